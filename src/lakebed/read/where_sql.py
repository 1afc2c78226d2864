"""Parse a filter of Spark SQL as a predicate, leaving to Spark what is uncertain.

A filter is always applied by Spark, too. So nothing is refused here but a text that says nothing: a mistake is reported
by Spark, whose grammar and names count, and all that an expression which is not understood costs is speed. A session
can change what texts in double quotes and backslashes mean (`spark.sql.ansi.doubleQuotedIdentifiers`,
`spark.sql.escapedStringLiterals`), so that these are never relied on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any, ClassVar

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField
from lakebed.read import comparing
from lakebed.read.literals import Literal, LiteralKind, day, decimal_type, single, stamp
from lakebed.read.predicate import And, Compare, Constant, Not, Opaque, Operator, Or, Predicate

if TYPE_CHECKING:
    from sqlglot import exp

#: What changes where a text or a comment ends, what a session replaces, and what ends a statement.
_UNSURE = re.compile(r"\\|--|/\*|\*/|[{}$;#]|``|\"\"")
#: What stands for columns whose names a text does not have in it.
_WITHOUT_NAMES = ("*", "identifier")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?", re.ASCII)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*", re.ASCII)
_OPERATORS = {
    "EQ": Operator.EQUAL,
    "NEQ": Operator.NOT_EQUAL,
    "LT": Operator.LESS,
    "LTE": Operator.LESS_OR_EQUAL,
    "GT": Operator.GREATER,
    "GTE": Operator.GREATER_OR_EQUAL,
}
_MIRRORED = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.NOT_EQUAL: Operator.NOT_EQUAL,
    Operator.LESS: Operator.GREATER,
    Operator.LESS_OR_EQUAL: Operator.GREATER_OR_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_OR_EQUAL: Operator.LESS_OR_EQUAL,
}
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_LONGS = range(-(2**63), 2**63)
_MAX_DIGITS = 38


def parse_where(
    sql: str, schema: TableSchema, *, time_zone: str, case_sensitive: bool = False, alias: str | None = None
) -> Predicate:
    """The predicate that a boolean expression of Spark SQL stands for, over the columns of `schema`.

    `time_zone` is that of Spark's session, and `case_sensitive` its `spark.sql.caseSensitive`. With an `alias` columns
    are those names that it stands before. For every row, what Spark says of the expression is among what is possible of
    the predicate. A text that is not understood, be it wrong or not, is `Opaque`. Raises UsageError (LB5630) for an
    empty text.
    """
    if not sql.strip():
        raise UsageError.of(
            "LB5630",
            "the filter is empty",
            expected="a boolean expression of Spark SQL, such as `amount > 10 AND day = DATE '2026-01-31'`",
            remedy="give an expression, or leave the filter out",
        )
    from sqlglot.errors import SqlglotError

    try:
        found = parse_condition(sql)
        if found is None:
            return Opaque(sql)
        tree, doubtful = found
        return ConditionReader(schema, time_zone, case_sensitive, doubtful, alias).predicate(tree)
    except (SqlglotError, RecursionError):
        return Opaque(sql)


def parse_condition(sql: str) -> tuple[Any, frozenset[str]] | None:
    """The tree of an expression, and what may be a text or a name in it; None where it is not certain."""
    from sqlglot import exp
    from sqlglot import parse_one as parsed

    if _UNSURE.search(sql):
        return None
    doubtful = _doubtful_texts(sql)
    return None if doubtful is None else (parsed(sql, into=exp.Condition, dialect="spark"), doubtful)


def may_name(text: str, fields: Iterable[DataField]) -> list[DataField]:
    """The columns that Spark SQL may look at: those whose names are in it, all where it may name them otherwise."""
    folded = text.casefold().replace("``", "`")
    every = any(word in folded for word in _WITHOUT_NAMES)
    return [field for field in fields if every or field.name.casefold() in folded]


def unknown_names(sql: str, schema: TableSchema, *, selected: bool = False) -> tuple[str, ...]:
    """The names in a filter that are no columns of `schema`, in their order; none where that cannot be told.

    Spark refuses a filter with such a name, unless it is a variable of its session. What looks like a name and is a
    function, or stands for the items of a list, is not among them. `sql` is a filter or, `selected`, what a SELECT
    gives: expressions with commas between them, whose own names are known too.
    """
    from sqlglot import exp
    from sqlglot import parse_one as parsed
    from sqlglot.errors import SqlglotError

    if _UNSURE.search(sql):
        return ()
    try:
        doubtful = _doubtful_texts(sql)
        if doubtful is None:
            return ()
        if selected:
            trees: list[Any] = parsed(f"SELECT {sql}", into=exp.Select, dialect="spark").expressions
        else:
            trees = [parsed(sql, into=exp.Condition, dialect="spark")]
    except (SqlglotError, RecursionError):
        return ()
    known = {field.name.casefold() for field in schema.fields} | BARE_FUNCTIONS
    known |= {tree.alias.casefold() for tree in trees if isinstance(tree, exp.Alias)}
    outermost = trees[0].parent if selected and trees else None
    names = (
        node.name
        for tree in trees
        for node in tree.find_all(exp.Column)
        if has_only(node, "this") and node.find_ancestor(exp.Lambda, exp.Select) is outermost
    )
    return tuple(dict.fromkeys(n for n in names if n.casefold() not in known and n not in doubtful))


def _doubtful_texts(sql: str) -> frozenset[str] | None:
    """What stands in double quotes, which may be a text or a name; None where a text holds its own quote."""
    from sqlglot import tokenize

    found = set()
    for token in tokenize(sql, read="spark"):
        raw = sql[token.start : token.end + 1]
        if raw[:1] == '"':
            found.add(raw[1:-1])
        elif "'" in raw[:2] and "'" in raw[raw.index("'") + 1 : -1]:
            return None
    return frozenset(found)


#: Functions that may be called without parentheses.
BARE_FUNCTIONS = frozenset(
    f"{prefix}{name}"
    for prefix, name in (
        *(("current_", name) for name in ("catalog", "database", "date", "path", "schema", "time", "timestamp")),
        *(("current_", name) for name in ("timezone", "user")),
        *(("", name) for name in ("user", "session_user", "localtime", "localtimestamp", "now")),
    )
)


class ConditionReader:
    """Reads the tree of one expression; with an alias, columns are those names that it stands before."""

    def __init__(
        self, schema: TableSchema, zone: str, case_sensitive: bool, doubtful: frozenset[str], alias: str | None = None
    ) -> None:
        self._time_zone, self._case_sensitive, self._doubtful, self._alias = zone, case_sensitive, doubtful, alias
        self._columns: dict[str, DataField | None] = {}
        for field in schema.fields:
            name = self._key(field.name)
            self._columns[name] = None if name in self._columns else field

    def _key(self, name: str) -> str:
        return name if self._case_sensitive else name.lower()

    def predicate(self, node: exp.Expression) -> Predicate:
        """The predicate of an expression that is true, false or NULL."""
        found = self._readers.get(type(node).__name__, ConditionReader._bare)(self, node)
        return Opaque(_text(node)) if found is None else found

    def _both(self, node: exp.Expression) -> Predicate:
        return And(tuple(self.predicate(part) for part in _operands(node)))

    def _either(self, node: exp.Expression) -> Predicate:
        return Or(tuple(self.predicate(part) for part in _operands(node)))

    def _negated(self, node: exp.Expression) -> Predicate:
        inner = self.predicate(node.this)
        return Opaque(_text(node)) if isinstance(inner, Opaque) else Not(inner)

    def _inside(self, node: exp.Expression) -> Predicate:
        return self.predicate(node.this)

    def _constant(self, node: exp.Expression) -> Predicate:
        return Constant(bool(node.this))

    def _null(self, node: exp.Expression) -> Predicate:
        return Constant(None)

    def _bare(self, node: exp.Expression) -> Predicate | None:
        column = self.column(node)
        if column is None or not isinstance(column.type, physical.Boolean):
            return None
        return Compare(column, Operator.EQUAL, True)

    def _comparison(self, node: exp.Expression) -> Predicate | None:
        operator = _OPERATORS[type(node).__name__]
        found = self._sides(node)
        if found is None:
            return None
        column, literal, mirrored = found
        chosen = _MIRRORED[operator] if mirrored else operator
        return comparing.compare(column, chosen, literal, time_zone=self._time_zone, text=_text(node))

    def _null_safe(self, node: exp.Expression) -> Predicate | None:
        found = self._sides(node)
        if found is None:
            return None
        column, literal, _ = found
        return comparing.compare_null_safe(column, literal, time_zone=self._time_zone, text=_text(node))

    def _distinct(self, node: exp.Expression) -> Predicate | None:
        equal = self._null_safe(node)
        return None if equal is None or isinstance(equal, Opaque) else Not(equal)

    def _sides(self, node: exp.Expression) -> tuple[DataField, Literal, bool] | None:
        """The column and the literal, and whether the literal comes first."""
        if not has_only(node, "this", "expression"):
            return None
        for mirrored, name, other in ((False, node.this, node.expression), (True, node.expression, node.this)):
            column = self.column(name)
            if column is not None:
                literal = self._literal(other)
                return None if literal is None else (column, literal, mirrored)
        return None

    def _between(self, node: exp.Expression) -> Predicate | None:
        column = self.column(node.this)
        low, high = self._literal(node.args.get("low")), self._literal(node.args.get("high"))
        if column is None or low is None or high is None or not has_only(node, "this", "low", "high"):
            return None
        pairs = (Operator.GREATER_OR_EQUAL, low), (Operator.LESS_OR_EQUAL, high)
        zone, text = self._time_zone, _text(node)
        return And(tuple(comparing.compare(column, how, value, time_zone=zone, text=text) for how, value in pairs))

    def _member(self, node: exp.Expression) -> Predicate | None:
        column = self.column(node.this)
        found = [self._literal(part) for part in node.expressions]
        literals = [literal for literal in found if literal is not None]
        if column is None or not found or len(literals) < len(found) or not has_only(node, "this", "expressions"):
            return None
        return comparing.is_in(column, literals, time_zone=self._time_zone, text=_text(node))

    def _is(self, node: exp.Expression) -> Predicate | None:
        column = self.column(node.this)
        if column is None or not has_only(node, "this", "expression"):
            return None
        match type(node.expression).__name__:
            case "Null":
                return comparing.is_null(column, _text(node))
            case "Boolean":
                return comparing.is_truth(column, bool(node.expression.this), _text(node))
            case _:
                return None

    def _like(self, node: exp.Expression) -> Predicate | None:
        if not has_only(node, "this", "expression", "negate"):
            return None
        column, pattern = self.column(node.this), self._string(node.expression)
        if column is None or pattern is None or not isinstance(column.type, (physical.Char, physical.VarChar)):
            return None
        found: Predicate
        if pattern.endswith("%"):
            found = comparing.starts_with(column, pattern[:-1], _text(node))
        else:
            found = Compare(column, Operator.EQUAL, pattern)
        if "_" in pattern or "%" in pattern[:-1]:
            return None
        return Not(found) if node.args.get("negate") else found

    def _starts_with(self, node: exp.Expression) -> Predicate | None:
        column, prefix = self.column(node.this), self._string(node.expression)
        if column is None or prefix is None or not has_only(node, "this", "expression"):
            return None
        return comparing.starts_with(column, prefix, _text(node))

    def column(self, node: Any) -> DataField | None:
        """The column that a name stands for: one without qualifier, or with the alias where there is one."""
        name = self._name(node, self._alias)
        return None if name is None else self._columns.get(self._key(name))

    def name(self, node: Any, alias: str, names: Sequence[str]) -> str | None:
        """The one of some names that a name with an alias stands for."""
        name = self._name(node, alias)
        found = [] if name is None else [n for n in names if self._key(n) == self._key(name)]
        return found[0] if len(found) == 1 else None

    def _name(self, node: Any, alias: str | None) -> str | None:
        inner = unwrapped(node)
        if type(inner).__name__ != "Column" or not has_only(inner, "this", *(() if alias is None else ("table",))):
            return None
        name, table = inner.this, inner.args.get("table")
        for part in (name,) if alias is None else (name, table):
            if type(part).__name__ != "Identifier" or part.this in self._doubtful:
                return None
        return str(name.this) if alias is None or table.this.lower() == alias else None

    def _string(self, node: Any) -> str | None:
        literal = self._literal(node)
        return literal.value if literal is not None and literal.kind is LiteralKind.STRING else None

    def _literal(self, node: Any) -> Literal | None:
        """The literal that an expression is; None for all others, and where its value is not certain."""
        inner = unwrapped(node)
        match type(inner).__name__:
            case "Null":
                return Literal(LiteralKind.NULL, None)
            case "Boolean":
                return Literal(LiteralKind.BOOLEAN, bool(inner.this))
            case "Literal" if inner.is_string:
                return None if inner.this in self._doubtful else Literal(LiteralKind.STRING, inner.this)
            case "Literal":
                return _number(inner.this)
            case "HexString":
                text = inner.this
                known = isinstance(text, str) and _HEX.fullmatch(text) and has_only(inner, "this")
                return Literal(LiteralKind.BINARY, bytes.fromhex(text)) if known else None
            case "Neg":
                return _minus(self._literal(inner.this))
            case "Cast" | "TryCast" if has_only(inner, "this", "to", "safe"):
                value = self._literal(inner.this)
                return None if value is None else _cast(value, inner.args["to"])
            case _:
                return None

    _readers: ClassVar[dict[str, Callable[[ConditionReader, Any], Predicate | None]]] = {
        "And": _both,
        "Or": _either,
        "Not": _negated,
        "Paren": _inside,
        "Boolean": _constant,
        "Null": _null,
        "NullSafeEQ": _null_safe,
        "NullSafeNEQ": _distinct,
        "Between": _between,
        "In": _member,
        "Is": _is,
        "Like": _like,
        "StartsWith": _starts_with,
        **dict.fromkeys(_OPERATORS, _comparison),
    }


def _operands(node: exp.Expression) -> list[exp.Expression]:
    """The operands of a chain of the same connectives, from left to right, without recursion."""
    kind, found, open_ = type(node), [], [node]
    while open_:
        part = open_.pop()
        if type(part) is kind:
            open_ += [part.expression, part.this]
        else:
            found.append(part)
    return found


def unwrapped(node: Any) -> Any:
    """What stands in parentheses."""
    while type(node).__name__ == "Paren":
        node = node.this
    return node


def has_only(node: exp.Expression, *names: str) -> bool:
    """Whether an expression has no other parts than these, so that nothing of it is passed over."""
    return all(name in names or not value for name, value in node.args.items())


def _text(node: exp.Expression) -> str:
    from sqlglot.errors import ErrorLevel

    return node.sql(dialect="spark", unsupported_level=ErrorLevel.IGNORE)


def _number(text: str) -> Literal | None:
    """A number without a suffix: with an exponent it is a DOUBLE."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    digits, exponent = found.groups()
    if exponent is not None:
        return _double(text)
    value = Number(digits)
    if "." not in digits and int(digits) in _LONGS:
        return Literal(LiteralKind.INTEGER, int(digits))
    return Literal(LiteralKind.DECIMAL, value) if decimal_type(value)[0] <= _MAX_DIGITS else None


def _double(text: str) -> Literal | None:
    value = float(text)
    return Literal(LiteralKind.DOUBLE, value) if math.isfinite(value) else None


def _minus(literal: Literal | None) -> Literal | None:
    if literal is None:
        return None
    if literal.kind is LiteralKind.INTEGER and -literal.value in _LONGS:
        return Literal(LiteralKind.INTEGER, -literal.value)
    if literal.kind is LiteralKind.DECIMAL:
        return Literal(LiteralKind.DECIMAL, literal.value.copy_negate())
    return Literal(literal.kind, -literal.value) if literal.kind in (LiteralKind.FLOAT, LiteralKind.DOUBLE) else None


def _cast(literal: Literal, to: exp.Expression) -> Literal | None:
    """What a cast makes of a literal, where it loses nothing; so it is as well where a failed cast gives NULL."""
    target = getattr(to.this, "name", "")
    is_text, value = literal.kind is LiteralKind.STRING, literal.value
    found: Any = None
    match target:
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT" if literal.kind is LiteralKind.INTEGER:
            half = 2 ** (_INTEGER_BITS[target] - 1)
            return literal if -half <= value < half else None
        case "DOUBLE" | "FLOAT" if literal.kind in (LiteralKind.INTEGER, LiteralKind.DECIMAL, LiteralKind.DOUBLE):
            number = float(value) if target == "DOUBLE" else _exact_single(value)
            known = number is not None and math.isfinite(number)
            return Literal(LiteralKind.DOUBLE if target == "DOUBLE" else LiteralKind.FLOAT, number) if known else None
        case "DECIMAL":
            return _as_decimal(literal, to)
        case "DATE" if is_text:
            kind, found = LiteralKind.DATE, day(value)
        case "TIMESTAMPTZ" | "TIMESTAMPLTZ" if is_text:
            kind, found = LiteralKind.TIMESTAMP, stamp(value)
        case "TIMESTAMPNTZ" if is_text:
            kind, found = LiteralKind.TIMESTAMP_NTZ, stamp(value)
            found = None if found is None or found.offset is not None else found
        case _:
            return None
    return None if found is None else Literal(kind, found)


def _exact_single(value: int | float | Number) -> float | None:
    return single(repr(value) if isinstance(value, float) else str(value))


def _as_decimal(literal: Literal, to: exp.Expression) -> Literal | None:
    """The value, if the type is the one that it has when it is written as a number: a wider one compares otherwise."""
    sizes = [part.this.this for part in to.expressions if getattr(part.this, "this", None) is not None]
    text = str(literal.value)
    if literal.kind not in (
        LiteralKind.STRING,
        LiteralKind.INTEGER,
        LiteralKind.DECIMAL,
    ) or not _PLAIN_NUMBER.fullmatch(text):
        return None
    value = Number(text)
    return Literal(LiteralKind.DECIMAL, value) if [str(n) for n in decimal_type(value)] == sizes else None
