"""One scheme of names: a module `x` of the room of conversions has `to_x` and `from_x`, which report what is lost."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest

from lakebed import convert

#: Nothing is lost there, for a reason that the room gives.
WITHOUT_REPORT = {"paimon", "spark_json", "arrow_json"}
#: What the schemas that a data frame has and takes are called in the documentation, without a report.
WITHOUT_SCHEME = {"to_struct_type", "from_struct_type"}


def conversions() -> Iterator[tuple[str, str, str]]:
    """Module, name and what is returned, of each public function that begins with `to_` or `from_`."""
    for found in pkgutil.walk_packages(convert.__path__, f"{convert.__name__}."):
        if found.ispkg:
            continue
        for name, function in inspect.getmembers(import_module(found.name), inspect.isfunction):
            if function.__module__ == found.name and name.startswith(("to_", "from_")) and name not in WITHOUT_SCHEME:
                yield found.name.rpartition(".")[2], name, str(inspect.signature(function).return_annotation)


CONVERSIONS = sorted(conversions())


def test_all_type_systems_are_there() -> None:
    found = {name.partition("_")[2] for _, name, _ in CONVERSIONS}
    own = {"arrow", "arrow_json", "ddl", "paimon", "parquet_text", "row_schema", "spark", "spark_json"}
    assert found == {*own, "iceberg", "delta", "avro", "odcs", "dbt", "protobuf"}


@pytest.mark.parametrize(("module", "name", "returned"), CONVERSIONS)
def test_a_conversion_is_called_as_its_module_and_reports_what_is_lost(module: str, name: str, returned: str) -> None:
    system = name.partition("_")[2]
    assert module in (system, name)
    assert returned.endswith(", LossReport]") is (system not in WITHOUT_REPORT)
