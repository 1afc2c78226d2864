"""The ODF system columns `offset`, `op`, `system_time` and `event_time`, put in where a manifest asks for them.

They are never put in silently: only `systemColumns` does it. A system column that the author declares stays as it is. A
vocabulary gives them other names, by the keys of Open Data Fabric's event `SetVocab`.
"""

from __future__ import annotations

from dataclasses import replace

from lakebed.manifest.nodes import MappingNode, Node
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import Properties
from lakebed.manifest.table_manifest import OdfDocument, SystemColumns, Vocabulary
from lakebed.model import Date, Field, Int32, Int64, LogicalType, Schema, Timestamp, UInt8, UInt64, required

#: The types that are a system column's: the first is what `spec` puts in, the second (or first) what `kamu` does.
_TYPES: dict[str, tuple[LogicalType, ...]] = {
    "offset": (UInt64(), Int64()),
    "op": (UInt8(), Int32()),
    "system_time": (Timestamp(),),
    "event_time": (Timestamp(),),
}
ROLES = tuple(_TYPES)
USUAL_NAMES = Vocabulary()
#: Put in the columns of the profile `kamu`.
AUTO = "auto"
VOCABULARY_KEYS = dict(zip(Vocabulary.KEYS, ROLES, strict=True))


def decode_system_columns(
    table: Properties, node: Node | None, problems: Problems
) -> tuple[SystemColumns | None, Vocabulary]:
    """`systemColumns`: a profile, `auto`, or a mapping of `profile` and names; None where nothing is put in."""
    choices = [AUTO, *(c.value for c in SystemColumns)]
    if not isinstance(node, MappingNode):
        chosen = table.choice("systemColumns", choices, "LB1056")
        return _profile(chosen), Vocabulary()
    inside = Properties(node, "`systemColumns`", problems)
    profile = _profile(inside.choice("profile", choices, "LB1056") or AUTO)
    given = {key: inside.text(key) for key in VOCABULARY_KEYS}
    inside.close()
    vocabulary = Vocabulary.of({k: v for k, v in given.items() if v is not None})
    names = [vocabulary.name(role) for role in ROLES]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        problems.error("LB6434", f"two system columns are called {twice!r}", node, found=twice)
        return None, Vocabulary()
    return profile, vocabulary


def _profile(chosen: str | None) -> SystemColumns | None:
    if chosen is None:
        return None
    return SystemColumns.KAMU if chosen == AUTO else SystemColumns(chosen)


def with_system_columns(schema: Schema, who: SystemColumns, vocabulary: Vocabulary = USUAL_NAMES) -> Schema:
    """The schema with the system columns that it lacks in front, in their usual order."""
    declared = {f.name for f in schema.fields}
    wanted = [(role, vocabulary.name(role)) for role in ROLES]
    missing = tuple(Field(name, _written(role, who)) for role, name in wanted if name not in declared)
    return replace(schema, fields=(*missing, *schema.fields))


def system_column_problem(role: str, type_: LogicalType) -> str | None:
    """What type a column of this role should have, if it is of another type; its optionality does not matter."""
    types = _TYPES.get(role)
    own = required(type_)
    if types is None or own in types:
        return None
    if role == "event_time":
        return None if isinstance(own, Timestamp | Date) else "a Timestamp or a Date"
    return " or ".join(t.kind for t in types)


def vocabulary_of(document: OdfDocument) -> Vocabulary:
    """The names of the newest `SetVocab` before the schema."""
    found = Vocabulary()
    for event in document.events[: document.schema_at]:
        if event.kind == "SetVocab":
            found = Vocabulary.of(event.to_json())
    return found


def _written(role: str, who: SystemColumns) -> LogicalType:
    return _TYPES[role][0 if who is SystemColumns.SPEC else -1]
