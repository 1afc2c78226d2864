"""A schema out of any document that holds one: a manifest, an envelope of Open Data Fabric, or a bare schema."""

from __future__ import annotations

from lakebed.diagnostics import Diagnostic, Position
from lakebed.manifest.attributes import Place
from lakebed.manifest.compose import compose, decode_utf8
from lakebed.manifest.document import DocumentDecoder
from lakebed.manifest.field_decoder import SchemaDecoder
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode
from lakebed.manifest.problems import Problems
from lakebed.manifest.table_manifest import TableManifest
from lakebed.model import Schema

_BLOCK = "MetadataBlock"
_NAMELESS = "default.schema"


def parse_schema(text: str | bytes, *, source: str | None = None) -> TableManifest | Schema:
    """The schema in a YAML or JSON text of one document; bytes are UTF-8.

    A manifest and a metadata block give the whole table, a bare `DataSchema` (RFC-016) gives the schema.
    `source` is what positions call the text, usually a file's path. Raises `ManifestError` with all problems.
    """
    problems = Problems()
    decoded = decode_utf8(text, source, problems) if isinstance(text, bytes) else text
    documents = compose(decoded, source, problems) if decoded is not None else []
    if len(documents) != 1 and not problems.errors:
        at = Position(source, 1, 1)
        remedy = "Split it: one schema is converted at a time."
        problems.error("LB1020", f"one schema is expected, found {len(documents)} documents", at, remedy=remedy)
    found = _decode(documents[0], problems) if documents else None
    problems.raise_if_any()
    if found is None:
        raise AssertionError("a document that declares nothing is a problem")
    return found


def twice(text: str, *, source: str | None = None) -> tuple[Diagnostic, ...]:
    """The keys that stand twice in an object of a JSON text, which readers of JSON pass over in silence."""
    problems = Problems()
    compose(text, source, problems)
    return tuple(d for d in problems.errors if d.code == "LB1006")


def _decode(node: Node, problems: Problems) -> TableManifest | Schema | None:
    if isinstance(node, MappingNode):
        values = {key.text: value for key, value in node.entries}
        if "fields" in values and "kind" not in values and "$schema" not in values:
            declared = SchemaDecoder(problems).decode(node, Place.ODF)
            return declared.schema if declared is not None else None
        event = _event_of_block(values)
        if event is not None:
            node = event
    return DocumentDecoder(problems, _NAMELESS).decode(node)


def _event_of_block(values: dict[str, Node]) -> Node | None:
    """The event of a `kind: MetadataBlock`, as an event manifest of its own."""
    kind, content = values.get("kind"), values.get("content")
    if not (isinstance(kind, ScalarNode) and kind.text == _BLOCK and isinstance(content, MappingNode)):
        return None
    event = next((value for key, value in content.entries if key.text == "event"), None)
    if not isinstance(event, MappingNode):
        return None
    return SequenceNode((event,), event.position)
