"""Define the tree of errors. Every error carries `Diagnostic`s; `str(error)` reads like a compiler's message.

Catch `LakebedError` for all of them. The exit code of the command line is a property of the class.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

from lakebed.diagnostics import Diagnostic, Severity


class LakebedError(Exception):
    """Base of all errors that Lakebed raises on purpose.

    `diagnostics` holds one entry per problem, errors first reported first; it is never empty.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, *diagnostics: Diagnostic) -> None:
        if not diagnostics:
            raise ValueError("an error needs at least one diagnostic")
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics
        super().__init__("\n".join(str(d) for d in diagnostics))

    @classmethod
    def of(cls, code: str, message: str, **parts: Any) -> Self:
        """An error of this class with a single diagnostic; `parts` are the other fields of `Diagnostic`."""
        return cls(Diagnostic(code, message, **parts))

    @property
    def code(self) -> str:
        """The code of the first diagnostic."""
        return self.diagnostics[0].code


class LakebedWarning(UserWarning):
    """Something that a call did not do although it succeeded, such as a column that it left out."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(str(diagnostic))


def warn(code: str, message: str, **parts: Any) -> None:
    """Give a `LakebedWarning` of one diagnostic; the parameters are those of `LakebedError.of`."""
    warnings.warn(LakebedWarning(Diagnostic(code, message, Severity.WARNING, **parts)), stacklevel=3)


class UsageError(LakebedError):
    """The caller's arguments do not make sense together."""

    exit_code = 2


class NoWarehouseError(UsageError):
    """Nothing names the warehouse of a command."""


class NotCountableError(UsageError):
    """The rows of a read cannot be counted from metadata alone."""


class ManifestError(LakebedError):
    """A manifest cannot be read or does not describe a valid table."""


class TypeTextError(LakebedError):
    """The text or JSON of a Paimon data type cannot be parsed."""


class UnknownTypeError(TypeTextError):
    """The text begins with a word that is no data type known here, perhaps that of a newer version."""


class ConversionError(LakebedError):
    """A schema cannot be said in another type system, or only with a loss that was not allowed."""


class ValidationError(LakebedError):
    """A table definition breaks a rule of the table format."""


class ColumnMismatchError(ValidationError):
    """A change does not fit the columns as they are when it is its turn: one is not there, or there already."""


class NotCastableError(ValidationError):
    """Stored values of one type cannot be read as the wanted one."""


class NotFoundError(LakebedError):
    """A warehouse, database, table, schema version, snapshot, tag, branch or file does not exist."""


class AlreadyExistsError(LakebedError):
    """Something that should be made new exists already."""


class CorruptMetadataError(LakebedError):
    """A file of the warehouse cannot be understood: a schema file, snapshot, manifest or data file."""


class UnsupportedError(LakebedError):
    """A feature of the table format that Lakebed does not read or write; never read wrongly or partly instead."""


class StoreError(LakebedError):
    """A store could not do what it was asked to do, or would do it unsafely."""


class WrongKindError(StoreError):
    """A directory where a file should be, or the other way round."""


class NotEmptyError(StoreError):
    """A directory that may be removed only while nothing is in it holds something."""


class OutcomeUnknownError(StoreError):
    """The storage reported a failure, and what was to be written may be there all the same or may still appear."""


class CommitOutcomeUnknownError(OutcomeUnknownError):
    """Nobody can tell whether a commit was made, nor take back the files that it refers to."""


class IngestError(LakebedError):
    """Rows cannot be ingested under the declared schema."""


class SourceMismatchError(IngestError):
    """A source does not fit the declared columns, perhaps because it is something else than what it is read as."""


class WriteError(LakebedError):
    """Rows cannot be written as data files as they came: a value, a column or their order is not what was promised."""


class RowOrderError(WriteError):
    """Rows came in another order than files need, which would show keys several times to every reader."""


class CastError(LakebedError):
    """A stored value cannot be read as the type that the wanted schema says."""


class RefusedError(LakebedError):
    """A change is forbidden, or breaking without leave."""

    exit_code = 11


class ConflictError(LakebedError):
    """Somebody else changed the table first and the changes do not mean the same any more."""

    exit_code = 12


class SequenceNumbersTakenError(ConflictError):
    """Another commit has given rows of the same keys numbers that are not below ours; rows have to be numbered anew."""


class StalePlanError(ConflictError):
    """The table is not what it was when the plan was made."""
