"""Check text columns whose `opendatafabric.org/type` is a Did, a Multihash or a link by one.

A DID is what W3C's "Decentralized Identifiers" (3.1) says. A multihash is the multibase text of a hash function, a
length and as many bytes: in base 16 (`f`), whose length is checked, or in base 58 (`z`), whose characters are.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.errors import ConversionError
from lakebed.ingest.columns.values import Fault
from lakebed.model import Extra, LogicalType, String, required
from lakebed.model.known_attributes import Core, Did, ExtendedType, Multihash, ObjectLink, extended_type

NO_DID = "LB1640"
NO_MULTIHASH = "LB1641"

_ID_CHARACTER = "(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})"
_DID = rf"^did:[a-z0-9]+:(?:{_ID_CHARACTER}*:)*{_ID_CHARACTER}+\z"
#: A varint of at most nine bytes for the function, one for the length, and bytes.
_H = "[0-9a-fA-F]"
_MORE, _LAST = f"(?:[89a-fA-F]{_H})", f"(?:[0-7]{_H})"
_BASE_16 = rf"^[fF]{_MORE}{{0,8}}{_LAST}({_MORE}?{_LAST})((?:{_H}{{2}})+)\z"
_BASE_58 = r"^z[1-9A-HJ-NP-Za-km-z]{4,}\z"

Rule = Callable[[Column], tuple[Fault, str]]


def extended_type_rules(extra: Extra, type_: LogicalType) -> tuple[Rule, ...]:
    """The rules for the values of a column; none for one that is no String, or whose attribute cannot be understood."""
    if not isinstance(required(type_), String):
        return ()
    try:
        found = extended_type(extra)
    except ConversionError:
        # Planning warned of it; what nobody understands is kept and not enforced (RFC-016).
        return ()
    return _rules(found)


def _rules(type_: ExtendedType | None) -> tuple[Rule, ...]:
    match type_:
        case Did():
            return (lambda v: (Fault(NO_DID, ~v.rlike(_DID)), "a DID: did:<method>:<id>"),)
        case Multihash():
            return (lambda v: (Fault(NO_MULTIHASH, ~is_multihash(v)), "a multihash in multibase: f1620..."),)
        case ObjectLink():
            return _rules(type_.link)
        case Core() | None:
            return ()


def is_multihash(v: Column) -> Column:
    """Whether a text is the multibase text of a multihash."""
    digits = F.length(F.regexp_extract(v, _BASE_16, 2))
    return v.rlike(_BASE_58) | (v.rlike(_BASE_16) & (_varint(F.regexp_extract(v, _BASE_16, 1)) * 2 == digits))


def _varint(hexadecimal: Column) -> Column:
    """The number of one or two bytes, seven bits each, the low ones first."""
    first, second = (F.conv(F.substring(hexadecimal, at, 2), 16, 10).cast("int") for at in (1, 3))
    return F.when(F.length(hexadecimal) == 2, first).otherwise(first - 128 + second * 128)
