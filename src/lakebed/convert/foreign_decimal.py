"""Convert decimals to what other forms have: a scale from 0 to the precision, and so many digits at most."""

from __future__ import annotations

from lakebed.convert.paimon import MAX_DECIMAL_PRECISION
from lakebed.diagnostics import Diagnostic
from lakebed.model import types as logical
from lakebed.model.logical_tree import Path
from lakebed.physical import path_text


def fitted_decimal(type_: logical.Decimal) -> logical.Decimal:
    """A Decimal whose scale is from 0 to its precision, and that holds all values of the given one."""
    scale = max(type_.scale, 0)
    return logical.Decimal(max(type_.precision - min(type_.scale, 0), scale), scale)


def bounded_decimal(type_: logical.Decimal, form: str, path: Path, problems: list[Diagnostic]) -> logical.Decimal:
    """The fitted Decimal, for a form by its name; one of more than 38 digits is noted (LB2601)."""
    fit = fitted_decimal(type_)
    if fit.precision > MAX_DECIMAL_PRECISION:
        message = f"a decimal of {form} has no more than {MAX_DECIMAL_PRECISION} digits"
        remedy, found = "use a smaller Decimal, or a String", f"{fit.precision} digits"
        problems.append(Diagnostic("LB2601", message, path=path_text(path), found=found, remedy=remedy))
    return fit
