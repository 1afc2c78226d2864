"""Edit an existing manifest in place: only what changes is written, every other character stays.

An edit is a change of the declared table, in the model: set, rename, remove or add a field, an attribute, an option.
The text is changed where the two tables differ. Afterwards it is read again and has to declare exactly what was asked
for; else nothing comes out but an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from lakebed.diagnostics import Diagnostic, reason_of
from lakebed.errors import ManifestError
from lakebed.manifest.load import parse_manifest
from lakebed.manifest.substitutions import Substitutions, escaped
from lakebed.manifest.table_manifest import Manifest, SourceKind, TableManifest
from lakebed.manifest.text_patches import YamlText, entry, flow_text, value_text
from lakebed.manifest.yaml_text import text_scalar
from lakebed.model import Field, LogicalType
from lakebed.model import types as logical
from lakebed.model.encoding import without_attributes
from lakebed.model.extra import DESCRIPTION, FIELD_ID, RENAMED_FROM, Extra
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE
from lakebed.model.types import type_json

#: From the table down to a column, by names and the steps into lists and maps.
Path: TypeAlias = tuple[str, ...]

CANNOT, DIFFERS = "LB1630", "LB1631"
#: They say which stored column is meant, not what it is like; an edit leaves those that are there.
_DIRECTIVES = (RENAMED_FROM, FIELD_ID)


def edit_manifest(
    text: str,
    change: Callable[[TableManifest], TableManifest],
    *,
    table: str | None = None,
    renames: Mapping[Path, str] | None = None,
    source: str | None = None,
    substitutions: Substitutions | None = None,
) -> str:
    """The text of a `kind: Table` after a change of the table that it declares.

    Args:
        text: the manifest.
        change: makes the wanted table of the declared one.
        table: the name of the table, where the text declares several.
        renames: the wanted names, by present path, of columns of all levels that change theirs and stay in place.
        source: what positions call the text.
        substitutions: the values of its variables, which stay where nothing changes.

    Raises:
        ManifestError: the text is faulty (its own codes), cannot be edited (LB1630), or would not say what is wanted
            (LB1631).
    """
    read = partial(parse_manifest, source=source, substitutions=substitutions)
    tables = read(text).tables
    numbers = [i for i, t in enumerate(tables) if table is None or t.name == table]
    if len(numbers) != 1 or tables[numbers[0]].source_kind is not SourceKind.TABLE:
        found = ", ".join(t.name for t in tables)
        raise _error(CANNOT, "the manifest has not one `kind: Table` for what is edited", expected=table, found=found)
    wanted = change(tables[numbers[0]])
    renamed = dict(renames or {})

    def done(step: type[_Step], text: str) -> str:
        declared = read(text).tables[numbers[0]]
        try:
            return step(YamlText(text), renamed).table(numbers[0], declared, wanted)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise _error(CANNOT, f"the manifest cannot be edited where it has to be: {reason_of(error)}") from error

    # Of lists of fields inside of each other the outer one is put in order first.
    seen = {text}
    while (ordered := done(_Order, text)) not in seen:
        seen.add(ordered)
        text = ordered
    text = done(_Values, text)
    _check(read, text, numbers[0], wanted)
    return text


def _check(read: Callable[[str], Manifest], text: str, number: int, wanted: TableManifest) -> None:
    """What was written has to declare what was wanted."""
    try:
        made = read(text).tables[number]
    except ManifestError as error:
        # Places in a text that nobody sees would be taken for places in the file.
        problems = (replace(d, position=None) for d in error.diagnostics)
        raise ManifestError(_problem(DIFFERS, "the edited manifest would be faulty"), *problems) from error
    if _comparable(made) != _comparable(wanted):
        raise _error(DIFFERS, "the edited manifest would declare something else, as where an alias shares a value")


def _comparable(table: TableManifest) -> tuple[Any, ...]:
    schema = without_attributes(table.schema, _DIRECTIVES)
    keys = table.primary_keys, table.partition_keys
    about = table.ignore_options, table.approvals, table.consumers, table.compatibility, table.description, table.name
    return schema, keys, dict(table.options), *about


def _approvals(table: TableManifest) -> list[dict[str, Any]]:
    return [approval.to_json() for approval in table.approvals]


def _mode(table: TableManifest) -> str | None:
    return None if table.compatibility is None else table.compatibility.value


def _consumers(table: TableManifest) -> list[dict[str, Any]]:
    return [consumer.to_json() for consumer in table.consumers]


def _error(code: str, message: str, **parts: Any) -> ManifestError:
    return ManifestError(_problem(code, message, **parts))


def _problem(code: str, message: str, **parts: Any) -> Diagnostic:
    return Diagnostic(code, message, remedy="edit it by hand; `lakebed infer` prints what a table is", **parts)


@dataclass(slots=True)
class _Step:
    """One pass over the differences of two tables. Positions hold for one text, so order and values take one each."""

    yaml: YamlText
    renames: dict[Path, str] = field(default_factory=dict)

    def table(self, number: int, declared: TableManifest, wanted: TableManifest) -> str:
        content = _value(self.yaml.documents[number], "content")
        # System columns that were put in do not stand in the text.
        fields = _value(_value(content, "schema"), "fields")
        written = {str(_value(item, "name").value) for item in fields.value}
        present = tuple(f for f in declared.schema.fields if f.name in written)
        asked = tuple(f for f in wanted.schema.fields if f.name in written or f not in declared.schema.fields)
        # What is deeper comes first, where both end at one place.
        self.fields(fields, (), present, asked)
        self.properties(content, declared, wanted)
        return self.yaml.changed()

    def properties(self, content: Any, declared: TableManifest, wanted: TableManifest) -> None:
        """What is not the columns."""

    def fields(self, node: Any, path: Path, declared: tuple[Field, ...], wanted: tuple[Field, ...]) -> None:
        raise NotImplementedError

    def former(self, path: Path) -> dict[str, str]:
        """The present names, by wanted ones, of the renamed members of what is at a path."""
        return {new: present[-1] for present, new in self.renames.items() if present[:-1] == path}

    def type(self, node: Node, key: Node, path: Path, declared: LogicalType, wanted: LogicalType) -> None:
        """Into what two types have in common; a type that differs as such is replaced whole."""
        if declared == wanted and type_json(declared) == type_json(wanted):
            return
        match declared, wanted:
            case logical.Option(), logical.Option():
                self.inside(node, "inner", path, declared.inner, wanted.inner)
            case logical.List(), logical.List() if declared.fixed_length == wanted.fixed_length:
                self.inside(node, "itemType", (*path, ELEMENT), declared.item_type, wanted.item_type)
            case logical.Map(), logical.Map() if bool(declared.keys_sorted) == bool(wanted.keys_sorted):
                self.inside(node, "keyType", (*path, KEY), declared.key_type, wanted.key_type)
                self.inside(node, "valueType", (*path, VALUE), declared.value_type, wanted.value_type)
            case logical.Struct(), logical.Struct() if declared.fields:
                self.fields(_value(node, "fields"), path, declared.fields, wanted.fields)
            case _ if declared != wanted:
                self.other_type(node, key, wanted)

    def inside(self, node: Node, name: str, path: Path, declared: LogicalType, wanted: LogicalType) -> None:
        found = entry(node, name)  # type: ignore[arg-type]
        assert found is not None
        self.type(found[1], found[0], path, declared, wanted)

    def other_type(self, node: Node, key: Node, wanted: LogicalType) -> None:
        """A type that is replaced."""


class _Order(_Step):
    """Puts the fields that stay into the wanted order."""

    def fields(self, node: Any, path: Path, declared: tuple[Field, ...], wanted: tuple[Field, ...]) -> None:
        former = self.former(path)
        place = {former.get(f.name, f.name): i for i, f in enumerate(wanted)}
        kept = [i for i, f in enumerate(declared) if f.name in place]
        order = iter(sorted(kept, key=lambda i: place[declared[i].name]))
        moved = [next(order) if i in kept else i for i in range(len(declared))]
        if moved != list(range(len(declared))):
            self.yaml.reorder(node, moved)
            return
        by_name = {former.get(f.name, f.name): f for f in wanted}
        for item, f in zip(node.value, declared, strict=True):
            if f.name in by_name:
                key, type_ = _entry(item, "type")
                self.type(type_, key, (*path, f.name), f.type, by_name[f.name].type)


class _Values(_Step):
    """Adds, removes, renames, retypes and annotates."""

    def properties(self, content: Any, declared: TableManifest, wanted: TableManifest) -> None:
        schema = _value(content, "schema")
        before, after = (escaped(_attributes(table.schema.extra)) for table in (declared, wanted))
        self._members(schema, "extra", before, after)
        for name, before, after in (
            ("description", declared.description, wanted.description),
            ("primaryKeys", list(declared.primary_keys), list(wanted.primary_keys)),
            ("partitionKeys", list(declared.partition_keys), list(wanted.partition_keys)),
            ("ignoreOptions", list(declared.ignore_options), list(wanted.ignore_options)),
            ("compatibility", _mode(declared), _mode(wanted)),
            ("approvals", _approvals(declared), _approvals(wanted)),
        ):
            if before != after:
                self._set_or_remove(content, name, escaped(after or None))
        self._consumers(content, declared, wanted)
        before, after = (escaped(dict(table.options)) for table in (declared, wanted))
        self._members(content, "options", before, after)

    def _consumers(self, content: Any, declared: TableManifest, wanted: TableManifest) -> None:
        """Those who only read columns under other names, or fewer of them, keep their form."""
        before, after = _consumers(declared), _consumers(wanted)
        if before == after:
            return
        items = _value(content, "consumers").value if before else ()
        alike = [{**old, "columns": new.get("columns")} == new for old, new in zip(before, after, strict=False)]
        if len(before) != len(after) or not all(alike):
            self._set_or_remove(content, "consumers", escaped(after or None))
            return
        for item, old, new in zip(items, before, after, strict=True):
            if old != new:
                self._columns(item, new["columns"])

    def _columns(self, consumer: Any, wanted: list[str]) -> None:
        key, columns = _entry(consumer, "columns")
        if len(columns.value) != len(wanted):
            self.yaml.set(consumer, "columns", wanted)
            return
        for node, name in zip(columns.value, wanted, strict=True):
            if node.value != name:
                self.yaml.replace(node, name, before=key)

    def fields(self, node: Any, path: Path, declared: tuple[Field, ...], wanted: tuple[Field, ...]) -> None:
        former = self.former(path)
        by_name = {former.get(f.name, f.name): f for f in wanted}
        at = {f.name: i for i, f in enumerate(declared)}
        if declared and not (by_name.keys() & at.keys()):
            raise ValueError("no field of a list of fields would stay")
        for i, (item, f) in enumerate(zip(node.value, declared, strict=True)):
            if f.name in by_name:
                self._field(item, (*path, f.name), f, by_name[f.name])
            else:
                self.yaml.remove_item(node, i)
        behind = 0
        for f in wanted:
            name = former.get(f.name, f.name)
            if name in at:
                behind = at[name] + 1
            else:
                self.yaml.insert_item(node, behind, _field_lines(f), self.yaml.flow_text(_short_field(f)))

    def other_type(self, node: Node, key: Node, wanted: LogicalType) -> None:
        self.yaml.replace(node, short_type(wanted), before=key)

    def _field(self, item: Any, path: Path, declared: Field, wanted: Field) -> None:
        if declared.name != wanted.name:
            self.yaml.set(item, "name", wanted.name)
        key, type_ = _entry(item, "type")
        self.type(type_, key, path, declared.type, wanted.type)
        before, after = declared.extra.to_json(), wanted.extra.to_json()
        kept = {key: before[key] for key in _DIRECTIVES if key in before}
        self._members(item, "extra", before, {**kept, **after})

    def _members(self, around: Any, name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
        """The members of a mapping that may be absent: attributes, options."""
        if Extra(before) == Extra(after):
            return
        found = entry(around, name)
        mapping = found[1] if found is not None else None
        if not after or not isinstance(mapping, MappingNode) or not mapping.value:
            self._set_or_remove(around, name, after or None)
            return
        if not before.keys() & after.keys():
            self.yaml.replace(mapping, after, before=_entry(around, name)[0])
            return
        for key in before:
            if key not in after and entry(mapping, key) is not None:
                self.yaml.remove(mapping, key)
        for key, value in after.items():
            if key not in before or Extra({"a/b": before[key]}) != Extra({"a/b": value}):
                self.yaml.set(mapping, key, value)

    def _set_or_remove(self, mapping: Any, name: str, value: Any) -> None:
        if value is not None:
            self.yaml.set(mapping, name, value)
        elif entry(mapping, name) is not None:
            self.yaml.remove(mapping, name)


def _attributes(extra: Extra) -> dict[str, Any]:
    """Those of a schema; its description is the table's."""
    return extra.without(DESCRIPTION).to_json()


def short_type(type_: LogicalType) -> Any:
    """The type as people write it: just the kind where that says all."""
    return _shortened(type_json(type_))


def _shortened(value: Any) -> Any:
    match value:
        case {"kind": kind, **rest} if not rest:
            return kind
        case {"kind": _}:
            inner = {"itemType", "keyType", "valueType", "inner"}
            out = {k: _shortened(v) if k in inner else v for k, v in value.items()}
            if "fields" in out:
                out["fields"] = [{**member, "type": _shortened(member["type"])} for member in out["fields"]]
            return out
        case _:
            return value


def _short_field(f: Field) -> dict[str, Any]:
    extra = f.extra.to_json()
    return {"name": f.name, "type": short_type(f.type), **({"extra": extra} if extra else {})}


def _field_lines(f: Field) -> list[str]:
    """A field in a block, its type on one line."""
    if not f.extra:
        return [flow_text(_short_field(f))]
    lines = [f"name: {text_scalar(f.name)}", f"type: {value_text(short_type(f.type))}", "extra:"]
    return [*lines, *(f"  {text_scalar(key)}: {value_text(value)}" for key, value in f.extra.to_json().items())]


def _entry(mapping: Any, key: str) -> tuple[Node, Node]:
    found = entry(mapping, key)
    if found is None:
        raise KeyError(key)
    return found


def _value(mapping: Any, key: str) -> Any:
    if isinstance(mapping, ScalarNode):
        raise TypeError(f"there is no {key}")
    return _entry(mapping, key)[1]
