"""Codes of the command line: LB7nnn."""

from __future__ import annotations

from lakebed.codes import Code

CODES: tuple[Code, ...] = (
    Code(
        "LB7001",
        "No warehouse is named",
        "A command that works on tables has to know which warehouse they are in.",
        "    lakebed tables",
        'Give `--warehouse DIR`, set `LAKEBED_WAREHOUSE`, or write `warehouse = "DIR"` into `lakebed.toml`.',
    ),
    Code(
        "LB7002",
        "lakebed.toml cannot be used",
        "The file is not valid TOML, or holds a setting that does not exist; a misspelt one would be ignored silently.",
        '    warehose = "lake"',
        "The settings are `warehouse`, `layout` and `time_zone`, each a text.",
    ),
    Code(
        "LB7003",
        "A warehouse cannot be made there",
        "The directory holds other things; a warehouse among them would be hard to tell apart from them.",
        "    lakebed init ~/Documents",
        "Name an empty or a new directory.",
    ),
    Code(
        "LB7004",
        "A saved plan is applied alone",
        "A saved plan was given together with other files. What was reviewed is what runs, and nothing besides.",
        "    lakebed apply plan.json orders.yaml",
        "Give the one plan, or only manifests.",
    ),
    Code(
        "LB7005",
        "A manifest does not give one schema",
        "Comparing needs one schema on each side, and the manifest declares several tables, or none that can be made.",
        "    lakebed diff two-tables.yaml db.t",
        "Split the manifest, or compare table versions; `lakebed plan` says what is forbidden and why.",
    ),
    Code(
        "LB7006",
        "Not confirmed",
        "The question was answered with no, or there was no terminal to ask on. Dropping a table deletes its data and "
        "every version of its schema, so it is never done without a yes.",
        "    lakebed drop nyc.flights < /dev/null",
        "Give `--yes`.",
    ),
    Code(
        "LB7007",
        "There is no such code",
        "Codes are `LB` and four digits.",
        "    lakebed explain LB9999",
        "`lakebed explain` lists them all.",
    ),
    Code(
        "LB7008",
        "The command line makes no sense",
        "A command or an option does not exist, or an argument is missing or of the wrong kind.",
        "    lakebed plna flights.yaml",
        "`lakebed --help` lists the commands, `lakebed COMMAND --help` the options of one.",
    ),
    Code(
        "LB7009",
        "The system refused",
        "A file could not be read or written: it is missing, is a directory, the disk is full, or you may not.",
        "    lakebed plan flights.yaml --out /plan.json",
        "Mend what the message names.",
    ),
    Code(
        "LB7010",
        "Stopped",
        "The command was interrupted. A schema version, a commit of rows and a drop are each done or not done; none is "
        "left half done.",
        "    Ctrl-C",
        "Repeat the command: it finds what is done already.",
    ),
    Code(
        "LB7011",
        "Spark does not understand the expression",
        "`--where` and `--select` take Spark SQL over the columns of the table as it is read.",
        "    lakebed read nyc.flights --where 'dep_delay => 60'",
        "`lakebed show TABLE` lists the columns; a name with other characters than letters, digits and `_` stands in "
        "backticks.",
    ),
    Code(
        "LB7012",
        "Spark failed",
        "Spark could not be started or reached, or could not read the rows. The message is Spark's.",
        "    lakebed read nyc.flights --remote sc://nowhere:15002",
        "Mend what the message names. For stored values that the wanted type cannot hold there is "
        "`--null-on-cast-error`.",
    ),
    Code(
        "LB7013",
        "A value cannot be shown",
        "Rows are shown by Python, which lacks some values, such as days of the year 0 inside of a VARIANT.",
        "    lakebed read shop.orders, where a VARIANT holds the day 0000-01-01",
        "Let Spark make a text of it: `--select 'cast(day as string) as day'`.",
    ),
    Code(
        "LB7030",
        "Standard input is given twice",
        "What comes from standard input can be read once only.",
        "    lakebed diff - -",
        "Give a file, a pipe or a table as the other side.",
    ),
)
