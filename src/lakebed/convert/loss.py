"""Report what a conversion could not say in the other type system."""

from __future__ import annotations

from dataclasses import dataclass

from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that was lost. `path` is the column path, empty for the schema as a whole."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}" if self.path else self.what


@dataclass(frozen=True, slots=True)
class LossReport:
    """All losses of one conversion; falsy when there is none."""

    losses: tuple[Loss, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.losses)

    def __str__(self) -> str:
        return "\n".join(str(loss) for loss in self.losses)

    def raise_if_any(self) -> None:
        """Raise `ConversionError` with one diagnostic per loss."""
        if self.losses:
            raise ConversionError(*(_diagnostic(loss) for loss in self.losses))


def _diagnostic(loss: Loss) -> Diagnostic:
    remedy = "allow losses, or change the schema so that it can be said there"
    return Diagnostic("LB2107", f"the conversion loses something: {loss}", path=loss.path or None, remedy=remedy)
