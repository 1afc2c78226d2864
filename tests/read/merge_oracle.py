"""The merge of one key's records as the format words it: one record after the other, one column after the other.

Written from the format's rules and not from Lakebed's expressions, in plain Python. Values are Python's; a map is a
dict, a row is a dict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from read.keyed_tables import DELETE, INSERT, UPDATE_AFTER, Record

Row = dict[str, Any]


def smallest_null(value: Any) -> tuple[int, Any]:
    return (0, 0) if value is None else (1, value)


def ordered(records: Sequence[Record], options: Mapping[str, str]) -> list[Record]:
    """Oldest first."""
    fields = [f for f in options.get("sequence.field", "").split(",") if f]
    found = sorted(records, key=lambda r: r.number)
    for name in reversed(fields):
        known = [r for r in found if r.values.get(name) is not None]
        down = options.get("sequence.field.sort-order") == "descending"
        # Python keeps the order of equal elements in both directions.
        known.sort(key=lambda r: r.values[name], reverse=down)
        found = [r for r in found if r.values.get(name) is None] + known
    return found


def merge(records: Sequence[Record], columns: Sequence[str], keys: Sequence[str], options: Mapping[str, str]) -> Any:
    """The values of the key's row, None where it has none."""
    found = ordered(records, options)
    if len(found) == 1:
        alone = found[0]
        return [alone.values.get(c) for c in columns] if alone.kind in (INSERT, UPDATE_AFTER) else None
    match options.get("merge-engine", "deduplicate"):
        case "deduplicate":
            newest = found[-1]
            return [newest.values.get(c) for c in columns] if newest.kind in (INSERT, UPDATE_AFTER) else None
        case "first-row":
            return [found[0].values.get(c) for c in columns]
        case "partial-update":
            return _Partial(columns, keys, options).merged(found)
        case "aggregation":
            return _Aggregation(columns, keys, options).merged(found)
        case other:
            raise ValueError(other)


class Function:
    """An aggregate function of one column with its state."""

    def __init__(self, name: str, column: str, options: Mapping[str, str]) -> None:
        self.name, self.began = name, False
        self.option: Callable[..., Any] = lambda key, default=None: options.get(f"fields.{column}.{key}", default)

    def agg(self, acc: Any, value: Any) -> Any:
        return getattr(self, f"do_{self.name.replace('-', '_')}")(acc, value)

    def reversed(self, acc: Any, value: Any) -> Any:
        return self.agg(acc, value) if self.name == "collect" else self.agg(value, acc)

    def retract(self, acc: Any, value: Any) -> Any:
        if self.option("ignore-retract") == "true":
            return acc
        return getattr(self, f"un_{self.name.replace('-', '_')}")(acc, value)

    def _two(self, acc: Any, value: Any, make: Callable[[Any, Any], Any]) -> Any:
        return value if acc is None else acc if value is None else make(acc, value)

    def do_primary_key(self, acc: Any, value: Any) -> Any:
        return value

    un_primary_key = do_last_value = do_primary_key

    def un_last_value(self, acc: Any, value: Any) -> Any:
        return None

    def do_last_non_null_value(self, acc: Any, value: Any) -> Any:
        return acc if value is None else value

    def un_last_non_null_value(self, acc: Any, value: Any) -> Any:
        return acc if value is None else None

    def do_first_value(self, acc: Any, value: Any) -> Any:
        if self.began:
            return acc
        self.began = True
        return value

    def do_first_non_null_value(self, acc: Any, value: Any) -> Any:
        if self.began or value is None:
            return acc
        self.began = True
        return value

    def do_sum(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, lambda a, b: a + b)

    def un_sum(self, acc: Any, value: Any) -> Any:
        if acc is None:
            return None if value is None else -value
        return acc if value is None else acc - value

    def do_product(self, acc: Any, value: Any) -> Any:
        def times(a: Any, b: Any) -> Any:
            return (a * b).quantize(Decimal("0.01"), ROUND_HALF_UP) if isinstance(a, Decimal) else a * b

        return self._two(acc, value, times)

    def un_product(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))

    def do_count(self, acc: Any, value: Any) -> Any:
        return 1 if acc is None else acc if value is None else acc + 1

    def un_count(self, acc: Any, value: Any) -> Any:
        return 1 if acc is None else acc if value is None else acc - 1

    def do_max(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, max)

    def do_min(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, min)

    def do_bool_and(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, lambda a, b: a and b)

    def do_bool_or(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, lambda a, b: a or b)

    def do_listagg(self, acc: Any, value: Any) -> Any:
        delimiter = self.option("list-agg-delimiter", ",")
        if value is None or not value.strip():
            return acc
        if acc is None or not acc.strip():
            return value
        if self.option("distinct") != "true":
            return acc + delimiter + value
        parts, known = [acc], acc.split(delimiter)
        for token in value.split(delimiter):
            if token.strip() and token not in known:
                known.append(token)
                parts.append(token)
        return delimiter.join(parts)

    def do_collect(self, acc: Any, value: Any) -> Any:
        if acc is None and value is None:
            return None
        both = [*(acc or ()), *(value or ())]
        if self.option("distinct") != "true":
            return both
        found: list[Any] = []
        for element in both:
            if element not in found:
                found.append(element)
        return found

    def un_collect(self, acc: Any, value: Any) -> Any:
        if acc is None or value is None:
            return acc
        left, gone = [], list(value)
        for element in acc:
            if element in gone:
                gone.remove(element)
            else:
                left.append(element)
        return left

    def do_merge_map(self, acc: Any, value: Any) -> Any:
        return self._two(acc, value, lambda a, b: a | b)

    def un_merge_map(self, acc: Any, value: Any) -> Any:
        return acc if acc is None or value is None else {k: v for k, v in acc.items() if k not in value}

    def do_merge_map_with_keytime(self, acc: Any, value: Any) -> Any:
        if acc is None or value is None:
            return value if acc is None else acc
        found = dict(acc)
        for key, new in value.items():
            if new is None:
                found.pop(key, None)
            elif new["t"] is not None:
                old = found.get(key)
                if old is None or old["t"] is None or new["t"] > old["t"]:
                    found[key] = new
        return found

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[k] for k in self.option("nested-key").split(","))

    def do_nested_update(self, acc: Any, value: Any) -> Any:
        limit = int(self.option("count-limit", 10**9))
        if value is None:
            return acc
        if not self.option("nested-key"):
            if acc is not None and len(acc) >= limit:
                return acc
            old = [r for r in acc or () if r is not None]
            return old + [r for r in value if r is not None][: limit - len(acc or ())]
        found: dict[Any, Row] = {}
        for limited, rows in ((False, acc or ()), (True, value)):
            for row in rows:
                if row is None:
                    continue
                key = self._key(row)
                if self.option("nested-key-null-strategy") == "ignore" and None in key:
                    continue
                old = found.get(key)
                if old is None:
                    if not limited or len(found) < limit:
                        found[key] = row
                elif not (by := self.option("nested-sequence-field")) or (
                    smallest_null(row[by]) >= smallest_null(old[by])
                ):
                    found[key] = row
        return list(found.values())

    def un_nested_update(self, acc: Any, value: Any) -> Any:
        if acc is None or value is None:
            return acc
        if not self.option("nested-key"):
            return [r for r in acc if r is not None and r not in value]
        kept = {self._key(r): r for r in acc if r is not None}
        for row in value:
            if row is not None:
                kept.pop(self._key(row), None)
        return list(kept.values())

    def do_nested_partial_update(self, acc: Any, value: Any) -> Any:
        if value is None:
            return acc
        found: dict[Any, Row] = {}
        for row in [*(acc or ()), *value]:
            if row is not None:
                old = found.setdefault(self._key(row), dict.fromkeys(row))
                old.update({k: v for k, v in row.items() if v is not None})
        return list(found.values())


class _Aggregation:
    def __init__(self, columns: Sequence[str], keys: Sequence[str], options: Mapping[str, str]) -> None:
        self.columns, self.keys, self.options = columns, keys, options
        self.functions = {c: Function(self._name(c), c, options) for c in columns}

    def _name(self, column: str) -> str:
        if column in self.options.get("sequence.field", "").split(","):
            return "last_value"
        if column in self.keys:
            return "primary-key"
        default = self.options.get("fields.default-aggregate-function", "last_non_null_value")
        return self.options.get(f"fields.{column}.aggregate-function", default)

    def merged(self, records: Sequence[Record]) -> Any:
        row: Row = dict.fromkeys(self.columns)
        deleted = False
        for record in records:
            deleted = self.options.get("aggregation.remove-record-on-delete") == "true" and record.kind == DELETE
            if deleted:
                row = {c: record.values.get(c) if c in self.keys else None for c in self.columns}
                continue
            for column in self.columns:
                function, value = self.functions[column], record.values.get(column)
                adds = record.kind in (INSERT, UPDATE_AFTER)
                row[column] = (function.agg if adds else function.retract)(row[column], value)
        return None if deleted else list(row.values())


class _Partial:
    def __init__(self, columns: Sequence[str], keys: Sequence[str], options: Mapping[str, str]) -> None:
        self.columns, self.keys, self.options = columns, keys, options
        self.group: dict[str, list[str]] = {}
        for key, value in options.items():
            if key.endswith(".sequence-group"):
                sequence = key[len("fields.") : -len(".sequence-group")].split(",")
                for member in [*value.split(","), *sequence]:
                    self.group[member] = sequence
        self.functions = {
            c: Function(options[f"fields.{c}.aggregate-function"], c, options)
            for c in columns
            if f"fields.{c}.aggregate-function" in options
        }
        self.removing = options.get("partial-update.remove-record-on-sequence-group", "").split(",")

    def merged(self, records: Sequence[Record]) -> Any:
        self.row: Row = dict.fromkeys(self.columns)
        deleted = inserted = False
        for record in records:
            deleted = False
            if record.kind in (INSERT, UPDATE_AFTER):
                self._add(record)
                inserted = True
            elif "true" in (self.options.get("ignore-delete"), self.options.get("partial-update.ignore-delete")):
                continue
            elif self.group:
                deleted = self._retract(record)
            elif record.kind == DELETE:
                assert self.options["partial-update.remove-record-on-delete"] == "true"
                deleted = True
                self._empty(record)
        return None if deleted or not inserted else list(self.row.values())

    def _empty(self, record: Record) -> None:
        self.row = {c: record.values.get(c) if c in self.keys else None for c in self.columns}

    def _newer(self, record: Record, fields: Sequence[str]) -> bool:
        new = [smallest_null(record.values.get(f)) for f in fields]
        return new >= [smallest_null(self.row[f]) for f in fields]

    def _add(self, record: Record) -> None:
        done: set[str] = set()
        for column in self.columns:
            value, function = record.values.get(column), self.functions.get(column)
            fields = self.group.get(column)
            if fields is None:
                self.row[column] = self.row[column] if value is None else value
            elif column in done or all(record.values.get(f) is None for f in fields):
                continue
            elif self._newer(record, fields):
                if column in fields:
                    self.row.update({f: record.values.get(f) for f in fields})
                    done.update(fields)
                else:
                    self.row[column] = value if function is None else function.agg(self.row[column], value)
            elif function is not None:
                self.row[column] = function.reversed(self.row[column], value)

    def _retract(self, record: Record) -> bool:
        done: set[str] = set()
        for column in self.columns:
            value, function = record.values.get(column), self.functions.get(column)
            fields = self.group.get(column)
            if fields is None or column in done or all(record.values.get(f) is None for f in fields):
                continue
            if self._newer(record, fields):
                if column in fields:
                    for f in fields:
                        if record.kind == DELETE and f in self.removing:
                            self._empty(record)
                            return True
                        self.row[f] = record.values.get(f)
                        done.add(f)
                else:
                    self.row[column] = None if function is None else function.retract(self.row[column], value)
            elif function is not None:
                self.row[column] = function.retract(self.row[column], value)
        return False
