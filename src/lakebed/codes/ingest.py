"""Codes of ingest: runs side by side, text that is read wrongly, system columns, declared sources, Spark servers."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB6400",
        "A run id was used for another source",
        "A run is done once. Under an id that is taken, the new source would be left out without a word.",
        "    lakebed ingest nyc.flights february.csv --run-id nightly    # after january.csv under the same id",
        "Give each run an id of its own, or leave it out: it is then made from the files.",
    ),
    Code(
        "LB6402",
        "Another run has ingested the file meanwhile",
        "Two runs began with the same file; only the first may put its rows into the table.",
        "Two schedulers that ingest the same directory at the same time.",
        "Repeat the command: it skips what is there by now.",
    ),
    Code(
        "LB6403",
        "A run that seemed to be cut off was still going",
        "Its bad rows were in quarantine and its good rows were not there yet, so that this run took them over. "
        "Then it came to its end.",
        "A run that is repeated while it is still going.",
        "Repeat the command.",
    ),
    Code(
        "LB6410",
        "A quoted value does not end in its line",
        "Without `multiLine` each line of a CSV file is a row: the value would be cut, and its rest taken for a row.",
        '    id,note\n    1,"two\n    lines"',
        "Give `--option multiLine=true`. Where each line is a row and the quote is a mistake, give `multiLine=false`: "
        "such rows then go to quarantine.",
    ),
    Code(
        "LB6411",
        "A row is no text in the file's encoding",
        "Spark reads U+FFFD for what it cannot decode, and what was there is lost.",
        "A file in ISO-8859-1 that is read as UTF-8.",
        "Give the right `--option encoding=...`, or mend the file.",
    ),
    Code(
        "LB6430",
        "The source has a system column",
        "The offset and the system time of a record come from the table, never from a source.",
        "A CSV file with a column `offset`, for a table with `systemColumns: kamu`.",
        "Rename the column in the source, or give the system column another name (`offsetColumn`).",
    ),
    Code(
        "LB6431",
        "A correction is not a pair",
        "A record is corrected by two rows: CorrectFrom (2) with the old values and, right after it, CorrectTo (3).",
        "    op,city,population\n    2,Oslo,1\n    0,Bergen,2",
        "Put the two rows together. A bad row of the pair has to be mended: half a correction is never ingested.",
    ),
    Code(
        "LB6432",
        "The rows cannot be numbered in order",
        "The source gave other rows, or other pieces, than were counted, so that offsets would have gaps.",
        "A DataFrame whose rows change each time that it is computed.",
        "Ingest a source that stays as it is, for example a file.",
    ),
    Code(
        "LB6433",
        "A column cannot be the system column that it is called",
        "An offset and an operation are integers, the times are timestamps (the event time may be a date).",
        "A String column with `lakebed.dev/systemColumn: offset`.",
        "Take the attribute off, or declare another type.",
    ),
    Code(
        "LB6434",
        "Two system columns have the same name",
        "Each of the four is a column of its own.",
        "    systemColumns: {profile: kamu, eventTimeColumn: system_time}",
        "Give them different names.",
    ),
    Code(
        "LB6435",
        "Others took the numbers each time",
        "Offsets have no gaps, so that a run which loses the race numbers its rows again. It did so, often, in vain.",
        "Many writers that append small commits to one table.",
        "Repeat the command when fewer write, or collect rows before they are ingested.",
    ),
    Code(
        "LB6436",
        "A file does not say when its records happened",
        "The table says that event times come from the path of the file, or from the time at which it was changed.",
        '    read: {kind: Csv, eventTime: {kind: FromPath, pattern: "-([0-9-]+)[.]csv"}}    # and a file new.csv',
        "Rename the file, or change `eventTime`.",
    ),
    Code(
        "LB6440",
        "A source has its columns twice",
        "`schema` and the older `ddlSchema` say the same thing; only one of them can hold.",
        "    read: {kind: Csv, schema: {...}, ddlSchema: [id INT]}",
        "Keep `schema`.",
    ),
    Code(
        "LB6441",
        "The kind of source is not read",
        "Ingest reads Csv, Json, NdJson and Parquet.",
        "    read: {kind: EsriShapefile}",
        "Convert the source, or give the format with each command.",
    ),
    Code(
        "LB6442",
        "The format of a declared source is not known",
        "Formats are csv, json (one object a line) and parquet.",
        "    read: {format: xml}",
        "Write one of these, or a `kind`.",
    ),
    Code(
        "LB6443",
        "A property of a declared source cannot be followed",
        "Types are those of the table, and dates are read by the patterns of Spark.",
        "    read: {kind: Csv, inferSchema: true}",
        "Leave it out, or write what is expected.",
    ),
    Code(
        "LB6444",
        "A file is no JSON document with records",
        "Of kind Json is a file that is one list of objects, or one object. Where they lie deeper, `subPath` "
        "says where. Nothing of a file that breaks off or is no JSON is ingested.",
        '    read: {kind: Json, subPath: data.items}    # for {"data": {"rows": []}}',
        "Mend the file or `subPath`. For one object a line take NdJson.",
    ),
    Code(
        "LB6445",
        "The rule for event times cannot be followed",
        "`eventTime` is FromSystemTime, FromMetadata, or FromPath with a regular expression that has a group.",
        '    read: {kind: Csv, eventTime: {kind: FromPath, pattern: "[0-9]+"}}',
        "Write what is expected.",
    ),
    Code(
        "LB6450",
        "The Spark server does not answer",
        "Nothing takes a connection at the address of `--remote`; Spark itself would try again for many minutes.",
        "    lakebed read nyc.flights --remote sc://localhost:15002    # nothing runs there",
        "Start the server, or check host and port.",
    ),
    Code(
        "LB6451",
        "That is no address of a Spark server",
        "A Spark Connect server is named by a URL that starts with `sc://`.",
        "    lakebed read nyc.flights --remote localhost:15002",
        "Write `sc://host:port`.",
    ),
    Code(
        "LB6470",
        "A timestamp of a Parquet file does not fit, and its old days are of the Julian calendar",
        "Files of Spark 2, and those that are read with `datetimeRebaseMode=LEGACY`, have days of the Julian calendar "
        "before 1582, which Spark's reader moves to the Gregorian one. At a moment beyond 64 bits of microseconds it "
        "fails, and gives none of the rows. In all other files such a row goes to quarantine (LB6203).",
        "    9223372036854776 milliseconds and a day of the year 1500 in one column of a file of Spark 2.4",
        "Mend the timestamps in the file (PyArrow reads them), or leave the file out.",
    ),
)
