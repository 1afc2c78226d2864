"""Decode the records of Avro blocks, by a function that is made for their schema.

The Avro library asks for the type of each value of each record again, and makes a dictionary of each. A table's history
is mostly such records, so that the questions are asked once here: their answers are the lines of a function (Avro
specification, "Binary Encoding"). What is not wanted is passed over.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

#: The names of a field and of the records that it is in, from the outermost on.
Path: TypeAlias = tuple[str, ...]
#: A path, and whether every schema has it.
Part: TypeAlias = tuple[Path, bool]
#: Gives the values of each of so many records that some bytes hold: those of the wanted parts, in their order.
Decode: TypeAlias = Callable[[bytes, int], Iterator[tuple[Any, ...]]]
#: The record itself, as a dictionary.
WHOLE: tuple[Part, ...] = (((), True),)

_FLOATS = {"float": struct.Struct("<f"), "double": struct.Struct("<d")}
#: What numbers of one byte are, by the byte; as lengths those below 0 are none, which no place can be moved by.
_SMALL = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))
_SMALL_LENGTHS = tuple(None if number < 0 else number for number in _SMALL)
#: A number has no more bits than fit into as many bytes, of seven bits each.
_MOST_BITS = 70
#: Types that hold others are nested no deeper than Python nests blocks.
_MOST_NESTED = 12
_MOST_LINES = 20_000
_MOST_ALTERNATIVES = 64


@lru_cache(maxsize=64)
def decoder(schema: bytes, wanted: tuple[Part, ...] = WHOLE) -> Decode:
    """The function for records of a schema, given as JSON.

    A record inside is a dictionary. None is the value of a part that need not be there and is not, and of what is in a
    record that is NULL. Logical types are passed over: the values are what is stored. The function raises ValueError,
    EOFError, IndexError, TypeError or `struct.error` for bytes that are not so many records of the schema. Raises
    ValueError for what is no schema, `MissingPartError` for one without a part that every schema has.
    """
    return _Writer(wanted).function(json.loads(schema))


class MissingPartError(KeyError):
    """A schema has not the part of this name."""


def _long(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at a place, and the place after it."""
    value = shift = 0
    while (byte := data[at]) > 127:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if shift >= _MOST_BITS:
            raise ValueError("a number has too many bytes")
    value |= byte << shift
    return (value >> 1) ^ -(value & 1), at + 1


def _length(data: bytes, at: int) -> tuple[int, int]:
    """As `_long`, for the length of what comes next."""
    found, at = _long(data, at)
    if found < 0:
        raise ValueError(f"a value has {found} bytes")
    return found, at


def _union(byte: int) -> ValueError:
    return ValueError(f"a union has no type that is written as {byte:#x}")


def _symbol(symbols: Sequence[str], index: int) -> str:
    if not 0 <= index < len(symbols):
        raise ValueError(f"an enum has no symbol of number {index}")
    return symbols[index]


class _Writer:
    """Writes the lines of one function. `d` is the block, `p` the place in it, `b` a byte, `e` the end of a value."""

    def __init__(self, wanted: tuple[Part, ...]) -> None:
        self._wanted = {path: f"w{number}" for number, (path, _) in enumerate(wanted)}
        self._needed = [path for path, is_always in wanted if is_always]
        self._there: set[str | None] = set()
        self._lines: list[str] = []
        self._indent = 2
        #: How many lines move the place, so far.
        self._moves = 0
        self._nested = 0
        self._names = 0
        self._named: dict[str, Any] = {}
        self._constants: dict[str, Any] = {
            "small": _SMALL,
            "sizes": _SMALL_LENGTHS,
            "long": _long,
            "length": _length,
            "union": _union,
            "symbol": _symbol,
            **_FLOATS,
        }

    def function(self, schema: Any) -> Decode:
        targets = self._wanted.values()
        self._value(schema, self._wanted)
        for path in self._needed:
            if self._wanted[path] not in self._there:
                raise MissingPartError(path[-1])
        text = "\n".join(
            (
                "def decode(d, count):",
                "    p, size = 0, len(d)",
                "    for _ in range(count):",
                *(f"        {target} = None" for target in targets),
                *self._lines,
                "        if p > size:",
                "            raise EOFError(f'the last value of a block of {size} bytes ends after it')",
                f"        yield ({''.join(f'{target}, ' for target in targets)})",
                "    if p != size:",
                "        raise EOFError(f'a block has {size} bytes, of which its records take {p}')",
            )
        )
        exec(compile(text, "<a decoder of Avro records>", "exec"), self._constants)
        made: Decode = self._constants["decode"]
        return made

    def _line(self, text: str) -> None:
        if len(self._lines) > _MOST_LINES:
            raise ValueError("the schema is too large")
        self._lines.append("    " * self._indent + text)

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    # --- values -------------------------------------------------------------------------------------------------------

    def _value(self, schema: Any, wanted: Mapping[Path, str]) -> None:
        """Read one value. `wanted` names, by the path inside of the value, the variables that take something of it."""
        target = wanted.get(())
        self._there.add(target)
        kind = schema.get("type") if isinstance(schema, Mapping) else schema
        if isinstance(schema, list):
            if len(schema) > _MOST_ALTERNATIVES:
                raise ValueError(f"a union has {len(schema)} types")
            self._alternatives(schema, wanted)
        elif isinstance(kind, (Mapping, list)):
            self._value(kind, wanted)
        elif kind in ("record", "error"):
            self._record(self._known(schema), wanted)
        elif kind == "array":
            self._many(target, schema["items"], is_map=False)
        elif kind == "map":
            self._many(target, schema["values"], is_map=True)
        elif kind in ("enum", "fixed"):
            self._plain(kind, self._known(schema), target)
        elif kind in _PLAIN:
            self._plain(kind, {}, target)
        elif isinstance(kind, str):
            self._nested_value(self._named[kind], wanted)
        else:
            raise ValueError(f"{schema!r} is no Avro schema")

    def _known(self, schema: Any) -> Any:
        """The schema, which may be named further on, with or without its namespace."""
        name = schema.get("name", "")
        space = schema.get("namespace")
        self._named[name] = self._named[name.rpartition(".")[2]] = schema
        if space:
            self._named[f"{space}.{name}"] = schema
        return schema

    def _block(self, head: str, *body: str | Callable[[], None]) -> None:
        """Lines that belong to a head, each given as it is or by what writes it."""
        self._line(head)
        self._indent += 1
        for part in body:
            if isinstance(part, str):
                self._line(part)
            else:
                part()
        self._indent -= 1

    def _plain(self, kind: str, schema: Mapping[str, Any], target: str | None) -> None:
        match kind:
            case "null":
                if target is not None:
                    self._line(f"{target} = None")
            case "boolean":
                self._line(f"{target or '_v'} = d[p] == 1")
                self._line("p += 1")
                self._moves += 1
            case "int" | "long":
                self._long(target)
            case "float" | "double":
                self._fixed(_FLOATS[kind].size, f"{kind}.unpack(d[p:e])[0]", target)
            case "fixed":
                self._fixed(int(schema["size"]), "d[p:e]", target)
            case "bytes" | "string":
                self._bytes("d[p:e]" if kind == "bytes" else "str(d[p:e], 'utf-8')", target)
            case "enum":
                self._long("_n")
                self._line(f"{target or '_v'} = symbol({self._constant(tuple(schema['symbols']))}, _n)")

    def _long(self, target: str | None) -> None:
        """Numbers of one byte or two, which are most of them, need no call."""
        target = target or "_v"
        self._line("_n = d[p]")
        self._block("if _n < 128:", f"{target} = small[_n]", "p += 1")
        self._block("elif d[p + 1] < 128:", f"{target} = (_n & 127 | d[p + 1] << 7) >> 1 ^ -(_n & 1)", "p += 2")
        self._block("else:", f"{target}, p = long(d, p)")
        self._moves += 1

    def _bytes(self, value: str, target: str | None) -> None:
        """What has its length before it. That it goes beyond the block is told at the end of the record."""
        self._line("_n = d[p]")
        self._block("if _n < 128:", "p += 1", "e = p + sizes[_n]")
        self._block("else:", "_n, p = length(d, p)", "e = p + _n")
        if target is not None:
            self._line(f"{target} = {value}")
        self._line("p = e")
        self._moves += 1

    def _fixed(self, size: int, value: str, target: str | None) -> None:
        if size < 0:
            raise ValueError(f"a value has {size} bytes")
        if target is not None:
            self._line(f"e = p + {size}")
            self._line(f"{target} = {value}")
        self._line(f"p += {size}")
        self._moves += size > 0

    # --- what holds others --------------------------------------------------------------------------------------------

    def _alternatives(self, schemas: Sequence[Any], wanted: Mapping[Path, str]) -> None:
        """A union says the number of its type first: in one byte, where it has fewer than 64 of them."""
        self._line("_n = d[p]")
        self._line("p += 1")
        self._moves += 1
        for index, schema in enumerate(schemas):
            self._block(f"{'el' if index else ''}if _n == {2 * index}:", partial(self._nested_value, schema, wanted))
        self._block("else:" if schemas else "if True:", "raise union(_n)")

    def _nested_value(self, schema: Any, wanted: Mapping[Path, str]) -> None:
        before = len(self._lines)
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise ValueError("types are nested too deep")
        self._value(schema, wanted)
        self._nested -= 1
        if len(self._lines) == before:
            self._line("pass")

    def _record(self, schema: Mapping[str, Any], wanted: Mapping[Path, str]) -> None:
        whole = wanted.get(())
        own: dict[str, str] = {}
        for field in schema["fields"]:
            name = field["name"]
            inner = {path[1:]: target for path, target in wanted.items() if path[:1] == (name,)}
            if whole is not None:
                own[name] = inner.setdefault((), self._name())
            self._value(field["type"], inner)
        if whole is not None:
            self._line(f"{whole} = {{{', '.join(f'{name!r}: {target}' for name, target in own.items())}}}")

    def _many(self, target: str | None, inside: Any, *, is_map: bool) -> None:
        """An array or a map: groups of values, each with its number, or that negated and its bytes."""
        made, number, key, item = target or self._name(), self._name(), self._name(), self._name()

        def one() -> None:
            moves = self._moves
            if is_map:
                self._bytes("str(d[p:e], 'utf-8')", key)
            self._nested_value(inside, {(): item})
            if self._moves == moves:
                raise ValueError("how many values there are of a type without bytes cannot be checked")
            # A number of values that is damaged ends with the block.
            self._block("if p > size:", "raise EOFError('a value ends after its block')")
            if target is not None:
                self._line(f"{made}[{key}] = {item}" if is_map else f"{made}.append({item})")

        def group() -> None:
            self._long(number)
            self._block(f"if {number} == 0:", "break")
            self._block(f"if {number} < 0:", f"{number} = -{number}", partial(self._long, None))
            self._block(f"for _ in range({number}):", one)

        self._line(f"{made} = {'{}' if is_map else '[]'}")
        self._block("while True:", group)


_PLAIN = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
