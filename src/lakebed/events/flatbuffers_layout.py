"""Parse `odf.fbs` into the slots of tables, the members of unions and the values of enums.

The subset of the FlatBuffers schema language that the file uses: tables, structs, enums, unions with aliases, optional
scalars (`= null`), attributes. A union takes two consecutive slots, the tag and the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from importlib import resources

MULTIHASH, DID, JSON, WRAPPER = "odf_multihash", "odf_did", "odf_json", "odf_wrapper"

#: Scalars of the wire and their `struct` codes, little endian.
SCALARS: Mapping[str, str] = {
    "bool": "<?",
    "ubyte": "<B",
    "int16": "<h",
    "uint16": "<H",
    "int32": "<i",
    "uint32": "<I",
    "int64": "<q",
    "uint64": "<Q",
}


class Form(Enum):
    """How the value of a slot is stored."""

    SCALAR = auto()
    ENUM = auto()
    STRUCT = auto()
    STRING = auto()
    BYTES = auto()
    TABLE = auto()
    UNION = auto()
    STRINGS = auto()
    TABLES = auto()


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot of a table, or the first of the two that a union takes.

    `name` is the property of a manifest, in camel case; `type` a scalar, enum, struct, table or union. A scalar that is
    not `optional` counts as 0 where it is absent. `mark` is the attribute that says how a manifest writes the value.
    """

    name: str
    number: int
    form: Form
    type: str
    optional: bool = False
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A `wrapper` is written as the value of its only slot."""

    name: str
    slots: tuple[Slot, ...]
    wrapper: bool = False

    @property
    def slot_count(self) -> int:
        """Slots on the wire, both of a union counted."""
        return max((s.number + (2 if s.form is Form.UNION else 1) for s in self.slots), default=0)


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything by name. A union's members are (kind, table) in the order of their tags, which start at 1."""

    tables: Mapping[str, Table]
    unions: Mapping[str, tuple[tuple[str, str], ...]]
    enums: Mapping[str, tuple[str, tuple[str, ...]]]
    structs: Mapping[str, tuple[tuple[str, str], ...]]

    def member(self, union: str, tag: int) -> tuple[str, Table] | None:
        """The kind and the table of a tag; None for one that is not known."""
        members = self.unions[union]
        if not 1 <= tag <= len(members):
            return None
        kind, table = members[tag - 1]
        return kind, self.tables[table]

    def tag(self, union: str, kind: str) -> tuple[int, Table] | None:
        """The tag and the table of a kind; None for one that is not known."""
        for number, (name, table) in enumerate(self.unions[union], 1):
            if name == kind:
                return number, self.tables[table]
        return None


@cache
def layout() -> Layout:
    """The layout of `odf.fbs`, read once."""
    return parse(resources.files("lakebed.events").joinpath("odf.fbs").read_text(encoding="utf-8"))


_TOKEN = re.compile(r'//[^\n]*|"[^"]*"|[A-Za-z_][A-Za-z0-9_]*|[{}()\[\]:;,=]|\s+')


def parse(text: str) -> Layout:
    """The layout that a schema text describes. Raises `ValueError` for what is not in the subset."""
    declarations = _Declarations(list(_tokens(text)))
    declarations.read()
    return declarations.layout()


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"unexpected {text[at]!r}")
        at = found.end()
        if not found[0].isspace() and not found[0].startswith("//"):
            yield found[0]


class _Declarations:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._fields: dict[str, tuple[list[_Field], frozenset[str]]] = {}
        self._unions: dict[str, tuple[tuple[str, str], ...]] = {}
        self._enums: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._structs: dict[str, tuple[tuple[str, str], ...]] = {}

    def read(self) -> None:
        while self._at < len(self._tokens):
            match self._next():
                case "attribute" | "root_type":
                    self._next()
                    self._expect(";")
                case "struct":
                    name, (fields, _) = self._next(), self._members()
                    self._structs[name] = tuple((f.name, f.type) for f in fields)
                case "table":
                    name = self._next()
                    self._fields[name] = self._members()
                case "enum":
                    name = self._next()
                    self._expect(":")
                    base = self._next()
                    self._enums[name] = (base, tuple(kind for kind, _ in self._listed()))
                case "union":
                    name = self._next()
                    self._unions[name] = tuple(self._listed())
                case other:
                    raise ValueError(f"unexpected {other!r}")

    def layout(self) -> Layout:
        tables = {name: self._table(name, fields, marks) for name, (fields, marks) in self._fields.items()}
        return Layout(tables, self._unions, self._enums, self._structs)

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise ValueError(f"expected {token!r}, found {found!r}")

    def _taken(self, token: str) -> bool:
        taken = self._tokens[self._at] == token
        self._at += taken
        return taken

    def _marks(self) -> frozenset[str]:
        if not self._taken("("):
            return frozenset()
        marks = [self._next()]
        while self._taken(","):
            marks.append(self._next())
        self._expect(")")
        return frozenset(marks)

    def _members(self) -> tuple[list[_Field], frozenset[str]]:
        marks = self._marks()
        self._expect("{")
        fields = []
        while not self._taken("}"):
            fields.append(self._field())
        return fields, marks

    def _field(self) -> _Field:
        name = self._next()
        self._expect(":")
        many = self._taken("[")
        type_ = self._next()
        if many:
            self._expect("]")
        optional = self._taken("=")
        if optional:
            self._expect("null")
        marks = self._marks()
        self._expect(";")
        return _Field(name, type_, many, optional, marks)

    def _listed(self) -> Iterator[tuple[str, str]]:
        self._expect("{")
        while not self._taken("}"):
            name = self._next()
            yield name, self._next() if self._taken(":") else name
            self._taken(",")

    def _table(self, name: str, fields: list[_Field], marks: frozenset[str]) -> Table:
        slots: list[Slot] = []
        number = 0
        for field in fields:
            form = self._form(field)
            mark = next(iter(field.marks), None)
            slots.append(Slot(_camel(field.name), number, form, field.type, field.optional, mark))
            number += 2 if form is Form.UNION else 1
        return Table(name, tuple(slots), WRAPPER in marks)

    def _form(self, field: _Field) -> Form:
        known = {
            "ubyte": Form.BYTES if field.many else Form.SCALAR,
            "string": Form.STRINGS if field.many else Form.STRING,
            **dict.fromkeys(self._fields, Form.TABLES if field.many else Form.TABLE),
        }
        if not field.many:
            known |= dict.fromkeys(self._unions, Form.UNION) | dict.fromkeys(self._structs, Form.STRUCT)
            known |= dict.fromkeys(self._enums, Form.ENUM) | dict.fromkeys(SCALARS, Form.SCALAR)
        if field.type not in known:
            raise ValueError(f"no type {field.type!r}" + (" in a vector" if field.many else ""))
        return known[field.type]


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    type: str
    many: bool
    optional: bool
    marks: frozenset[str]


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
