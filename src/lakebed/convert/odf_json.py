"""The JSON long form of logical types read back: see `lakebed.model.from_json`."""

from lakebed.model.from_json import field_from_json, type_from_json

__all__ = ["field_from_json", "type_from_json"]
