"""Codes of ingest: which files a source is, and what their folders say."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB6128",
        "That is no pattern of file names",
        "`include` and `exclude` choose files by their names or by their paths below the source.",
        "    lakebed ingest nyc.flights in --exclude ''",
        "Give a pattern such as `*.csv` or `archive/**`.",
    ),
    Code(
        "LB6129",
        "The folders of a file say two values for one column",
        "Folders named `key=value` are columns of the rows in the files below them.",
        "    in/site=north/site=south/a.csv",
        "Rename one of the folders, or ignore them all (`--ignore-folders`).",
    ),
    Code(
        "LB6130",
        "A row says something else than the folder that it is in",
        "The file has the column that its folder `key=value` says as well. Which of the two is right, nobody can know. "
        "Both are compared as values of the column's type.",
        "    a row with the site `south` in in/site=north/a.csv",
        "Mend the row, move the file, or ignore the folders (`--ignore-folders`).",
    ),
    Code(
        "LB6131",
        "A compressed file cannot be decompressed",
        "It is cut off, damaged, or not compressed in the way that its ending says. Spark would read some of its rows, "
        "or none, or fail without saying which file it was.",
        "    a CSV file that is not compressed and called january.csv.gz",
        "Get the file again, or give it the ending of what it is.",
    ),
    Code(
        "LB6132",
        "The data has a column under a name that it bore before",
        "The column was renamed in the table and not in the data. Taken for a new column, its values would be in two "
        "columns; left out, they would be lost; taken for the renamed column, they might be something else.",
        "    a CSV file with `dep_delay`, for a table in which that is now `departure_delay`",
        "Rename the column in the data. To have it as a column of its own, declare it in the manifest, or give leave "
        'to `lake.merge_schema` with `allow=["LB6132:dep_delay"]`.',
    ),
    Code(
        "LB6134",
        "Files that are skipped were read with other options",
        "A file is ingested once, known by its path, size and content. Other options make it no other file: ingested "
        "once more, its good rows would be in the table twice.",
        "    lakebed ingest nyc.flights a.csv, then lakebed ingest nyc.flights a.csv --option nullValue=NA",
        "Roll the table back to before the first run, or delete its rows; then ingest with `--again`.",
    ),
    Code(
        "LB6135",
        "The good rows of a file are in the table twice",
        "`--again` ingests a file that an earlier run has ingested.",
        "    lakebed ingest nyc.flights a.csv --again",
        "If that is not wanted, roll the table back to the snapshot before the run.",
    ),
    Code(
        "LB6136",
        "The source is not what it is read as",
        "Its first bytes prove that it has another separator, encoding or format. Where no row is good for that "
        "reason, nothing is written.",
        "    a CSV file with `id;name` as its header, read with `,`",
        "Do what the note says, such as `--option sep=';'`.",
    ),
    Code(
        "LB6137",
        "All rows are bad",
        "The run put every row into quarantine, and nothing into the table. The command ends with 14.",
        "    a file in which every date is written in another way than expected",
        "Look at the problems of the quarantined rows, mend the source or give the right options.",
    ),
    Code(
        "LB6133",
        "A new column differs from a known one in blanks only",
        "Blanks around the names of a header are a slip more often than a wish.",
        "    `id, name` as the header of a CSV file, for a table with `name`",
        "Take the blanks out, for CSV with `--option ignoreLeadingWhiteSpace=true`; or give leave with "
        '`allow=["LB6133"]`.',
    ),
)
