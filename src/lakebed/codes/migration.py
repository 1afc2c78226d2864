"""Codes of `lakebed migrate`: LB3750 to LB3799."""

from __future__ import annotations

from lakebed.codes import Code

CODES = (
    Code(
        "LB3750",
        "There is nothing to migrate",
        "The source of a migration is a warehouse in Mini Paimon's layout: tables under `<database>/<table>`, whose "
        "schema files hold `schemaId`. None of the tables that were asked for is there.",
        "    lakebed migrate warehouse new-warehouse     # and warehouse is empty, or Paimon's already",
        "Name the directory that holds the databases.",
    ),
    Code(
        "LB3751",
        "The target of a migration cannot be used",
        "It has to be a Paimon warehouse, an empty directory or a new one, and must not be the source, hold it, or "
        "lie in it: the source is never touched.",
        "    lakebed migrate warehouse warehouse",
        "Name another directory.",
    ),
    Code(
        "LB3752",
        "A declared rename cannot be followed",
        "A rename is declared as TABLE:VERSION:OLD=NEW: in that version the column NEW is what was OLD in the version "
        "before. OLD has to be a column of the version before, NEW one of that version, and each is used once.",
        "    --rename shop.users:2:town=city             # version 2 has no column city",
        "Look at the plan for the columns of each version; put a name that holds `:` or `=` in backticks.",
    ),
    Code(
        "LB3753",
        "A column may have been renamed",
        "Mini Paimon's files hold no field ids. A column went in the same version in which one of the same type came, "
        "with a similar name or at its place. A field id cannot be put right later, so the answer has to be given now.",
        "    version 2: town goes and city of the same type comes",
        "Answer with --rename TABLE:VERSION:OLD=NEW or with --no-rename TABLE:VERSION:OLD=NEW.",
    ),
    Code(
        "LB3754",
        "A version cannot follow the one before it in a Paimon table",
        "Mini Paimon lets every version be anything. In a Paimon table the keys stay what they are, and key columns "
        "are neither dropped nor retyped.",
        "    version 1 has the primary key id, version 2 has none",
        "Make the table in the target as it is now (`lakebed infer`, `lakebed apply`) and leave it out here (--table).",
    ),
    Code(
        "LB3755",
        "A version breaks a rule of Paimon's tables",
        "Each version of the migrated table is checked by the rules for new tables: types, keys, names, and the "
        "properties, which become options. A type that Lakebed does not know can be read from the source but not "
        "written.",
        "    a column of a type that is not known",
        "Leave the table out (--table), or change the property in the source's `metadata` file.",
    ),
    Code(
        "LB3756",
        "A table holds something that cannot be migrated",
        "Mini Paimon's specification describes schemas, not data files: rows that Mini Paimon itself wrote are not "
        "read. Rows that Lakebed wrote are migrated. Branches are not.",
        "    shop/users/data/data-0-000.sst",
        "Give --schema-only to migrate the schema and leave the rows behind, or leave the table out (--table).",
    ),
    Code(
        "LB3757",
        "The source changed after the migration was planned",
        "What was reviewed is what runs. Nothing was written for this table.",
        "    somebody adds a version while the plan is read",
        "Plan it again.",
    ),
    Code(
        "LB3758",
        "The target has something else in the place of a table",
        "A table of this name is there already with other versions, or its directory holds other files. A migration "
        "never overwrites; a table that an earlier run has migrated counts as done.",
        "    sales.orders was made in the target by hand",
        "Choose another target, or drop that table.",
    ),
    Code(
        "LB3759",
        "An interrupted migration left files behind",
        "A table is put together in a directory of the run and appears in one step. A run that was killed leaves that "
        "directory; no engine takes it for a table.",
        "    .lakebed-migration/2f1c.../sales.db/orders",
        "When no migration into this warehouse is running: `lakebed orphans --remove`, which leaves young ones alone.",
    ),
    Code(
        "LB3760",
        "A column becomes nullable by the migration",
        "A column that was added later, or that could be null before, has no value in rows of earlier versions. "
        "Paimon adds nullable columns only and does not let them become NOT NULL.",
        "    version 1 adds the column email, nullable: false",
        "Nothing need be done; a required column can be had in a new table.",
    ),
    Code(
        "LB3761",
        "A column changed to a type that its values cannot become",
        "The format has no cast between the two types, so the values of the earlier one cannot be read as the later "
        "one: it is migrated as a column that went and another one of the same name that came.",
        "    tags was INT in version 0 and is an ARRAY in version 1",
        "Nothing need be done.",
    ),
    Code(
        "LB3762",
        "Something in the table's directory is left behind",
        "Only what belongs to a table is copied.",
        "    shop/users/notes.txt",
        "Copy it by hand if it is wanted.",
    ),
)
