"""Check which reader options a source may have, refusing those that would defeat the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UsageError
from lakebed.ingest.columns.values import TextFormats
from lakebed.ingest.sources.remedies import Remedy, both, source_format
from lakebed.ingest.sources.source_files import SourceFormat
from lakebed.ingest.sources.source_option_values import BAD_OPTION as BAD_OPTION
from lakebed.ingest.sources.source_option_values import lines_encoding_problems, option_problems, spark_encoding

REFUSED_OPTION = "LB6105"
UNKNOWN_OPTION = "LB6106"

#: Options that would decide what the declared schema and the checks decide.
_REFUSED = {
    "mode": "bad rows always go to quarantine",
    "inferschema": "types come from the declared schema",
    "schema": "types come from the declared schema",
    "columnnameofcorruptrecord": "malformed rows always go to quarantine",
    "enforceschema": "columns are matched by their names in the header",
    "columnpruning": "whole rows are checked",
    "mergeschema": "each file is read by its own columns",
    "singlevariantcolumn": "columns come from the declared schema",
    "primitivesasstring": "types come from the declared schema",
    "prefersdecimal": "types come from the declared schema",
    "samplingratio": "types come from the declared schema",
    "dropfieldifallnull": "columns come from the declared schema",
    "timezone": "the zone is the lake's: open it with time_zone=",
    "locale": "texts are read in English; convert the source",
    "pathglobfilter": "give a glob as the source",
    "recursivefilelookup": "a directory stands for all files below it",
    "modifiedbefore": "name the files",
    "modifiedafter": "name the files",
    "path": "give the path as the source",
    "ignorecorruptfiles": "a file that cannot be read fails the ingest",
    "ignoremissingfiles": "a file that is gone fails the ingest",
    "wholetext": "JSON lines are read line by line",
    "multiline": "JSON lines are read line by line",
}
_OF_LINES = ("wholetext", "multiline")
_ONE_DOCUMENT = "; for a file that is one document, declare `read: {kind: Json}` in the manifest, and give no format"
_PATTERNS = ("dateFormat", "timestampFormat", "timestampNTZFormat")
_FORMATS = (*_PATTERNS, "decimalSeparator", "groupingSeparator")
_KNOWN = {
    SourceFormat.CSV: (
        *_FORMATS,
        "sep",
        "delimiter",
        "encoding",
        "charset",
        "quote",
        "escape",
        "charToEscapeQuoteEscaping",
        "comment",
        "header",
        "lineSep",
        "multiLine",
        "nullValue",
        "emptyValue",
        "nanValue",
        "positiveInf",
        "negativeInf",
        "ignoreLeadingWhiteSpace",
        "ignoreTrailingWhiteSpace",
        "maxColumns",
        "maxCharsPerColumn",
        "unescapedQuoteHandling",
    ),
    SourceFormat.JSON: (
        *_FORMATS,
        "encoding",
        "charset",
        "lineSep",
        "allowComments",
        "allowUnquotedFieldNames",
        "allowSingleQuotes",
        "allowNumericLeadingZeros",
        "allowBackslashEscapingAnyCharacter",
        "allowUnquotedControlChars",
        "allowNonNumericNumbers",
    ),
    SourceFormat.PARQUET: (*_FORMATS, "datetimeRebaseMode", "int96RebaseMode"),
}
_VALUE_OPTIONS = frozenset((*(name.lower() for name in _FORMATS), "nanvalue", "positiveinf", "negativeinf"))


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Checked options: those for Spark's reader, and what they say about values, which is done by the checks.

    Keys of `reader` are in lower case. `verify_checksums`: hold pages of Parquet files against their checksums.
    """

    reader: Mapping[str, str]
    formats: TextFormats
    verify_checksums: bool = True

    def get(self, key: str, default: str) -> str:
        """The value of a reader option, by its name in lower case."""
        return self.reader.get(key, default)

    def is_on(self, key: str, default: bool) -> bool:
        """A truth value among the reader options."""
        return self.reader.get(key, str(default)).lower() == "true"

    @property
    def encoding(self) -> str:
        """The encoding of text files."""
        return self.get("encoding", self.get("charset", "UTF-8"))

    @property
    def separator(self) -> str:
        """What separates the values of a CSV line."""
        said = self.get("sep", self.get("delimiter", ","))
        return "\t" if said == "\\t" else said


def check_options(
    format_: SourceFormat | None,
    options: Mapping[str, object] | None,
    *,
    is_document: bool = False,
    named: SourceFormat | None = None,
) -> SourceOptions:
    """Sort the options for a format (None: a DataFrame, which takes those of values only).

    `is_document` says that each file is one JSON document, `named` is the format that the files' names say where the
    table's `read` says another one.

    Raises `UsageError` with every option that is refused, unknown, or cannot be what it is.
    """
    known = {name.lower(): name for name in (_FORMATS if format_ is None else _KNOWN[format_])}
    declared = "" if named is None else f"; the table's `read` says what files are, whatever they are called ({named})"

    def leave_read(remedy: str) -> Remedy:
        return both(remedy) if named is None else source_format(named).after(f"{remedy}; or put `read` aside: ")

    problems: list[Diagnostic] = []
    texts: dict[str, str] = {}
    for name, value in (options or {}).items():
        key = name.lower()
        if key in known:
            texts[key] = _text(name, value)
        elif key in _REFUSED:
            by_lines = format_ is SourceFormat.JSON and key in _OF_LINES
            why = "a JSON document is read as a whole" if by_lines and is_document else _REFUSED[key]
            message = f"option {name} cannot be used: {why}{declared}"
            leave = "leave it out" + (_ONE_DOCUMENT if by_lines and not is_document else "")
            problems.append(Diagnostic(REFUSED_OPTION, message, path=name, **leave_read(leave).parts))
        else:
            what = "a DataFrame" if format_ is None else format_.value
            problems.append(
                Diagnostic(
                    UNKNOWN_OPTION,
                    f"{what} sources have no option {name}{declared}",
                    path=name,
                    expected=", ".join(known.values()),
                    **leave_read("the options are " + ", ".join(known.values())).parts,
                    suggestions=near_names(name, known.values()),
                )
            )
    for key in ("encoding", "charset"):
        if key in texts:
            texts[key] = spark_encoding(texts[key])
    problems += option_problems(texts, known)
    if format_ is SourceFormat.JSON and not problems:
        problems += lines_encoding_problems(texts.get("encoding", texts.get("charset", "UTF-8")))
    if problems:
        raise UsageError(*problems)
    reader = {k: v for k, v in texts.items() if k not in _VALUE_OPTIONS}
    return SourceOptions(reader, _text_formats(texts))


def _text(name: str, value: object) -> str:
    """The text of an option; of several patterns, one a line."""
    if isinstance(value, list | tuple) and name.lower() in {p.lower() for p in _PATTERNS}:
        return "\n".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text_formats(texts: Mapping[str, str]) -> TextFormats:
    return TextFormats(
        date=texts.get("dateformat"),
        timestamp=texts.get("timestampformat"),
        wall_clock=texts.get("timestampntzformat"),
        nan=texts.get("nanvalue"),
        infinity=texts.get("positiveinf"),
        minus_infinity=texts.get("negativeinf"),
        decimal=texts.get("decimalseparator", "."),
        grouping=texts.get("groupingseparator", ""),
    )
