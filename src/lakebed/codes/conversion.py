"""Codes of `lakebed convert`: LB705.."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB7050",
        "What the input is cannot be told",
        "Neither the name nor the first bytes of the input say which form of schema it holds, and a guess could read "
        "it as another schema.",
        "    lakebed convert event.bin --to odf-yaml",
        "Say it: `--from odf-event`.",
    ),
    Code(
        "LB7051",
        "A library for the conversion is missing",
        "Schemas of Arrow, Parquet and ORC files are read by PyArrow, Spark's by PySpark. Neither is installed with "
        "Lakebed unless asked for.",
        "    lakebed convert orders.yaml --to arrow",
        "`pip install 'lakebed[arrow]'`, or `'lakebed[spark]'`. No Java is needed for a conversion.",
    ),
    Code(
        "LB7052",
        "The input is not what it was said to be",
        "The content is not of the form that `--from`, or the name of the file, says.",
        "    lakebed convert rows.csv --from parquet --to ddl",
        "Leave `--from` out, or correct it.",
    ),
    Code(
        "LB7053",
        "Bytes do not go to a terminal",
        "An event and an Arrow schema are bytes. On a terminal they would be noise, and could command it.",
        "    lakebed convert orders.yaml --to odf-event",
        "Give `--out FILE`, or send the output to a file or a pipe.",
    ),
)
