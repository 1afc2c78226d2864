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
        "A saved plan cannot be applied",
        "The file is not JSON, or a saved plan was given together with other files. A plan is applied alone, so that "
        "what was reviewed is what runs.",
        "    lakebed apply plan.json orders.yaml",
        "Give the one plan, or only manifests.",
    ),
    Code(
        "LB7005",
        "A manifest does not give one schema",
        "Comparing needs one schema on each side; the manifest declares several tables, or forbidden changes.",
        "    lakebed diff two-tables.yaml db.t",
        "Split the manifest, or compare table versions; `lakebed plan` says what is forbidden and why.",
    ),
    Code(
        "LB7006",
        "Dropping was not confirmed",
        "Dropping a table deletes its data and every version of its schema. Without a terminal nobody can be asked.",
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
)
