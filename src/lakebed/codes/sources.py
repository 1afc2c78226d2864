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
)
