"""Schema files as other implementations write and read them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa

import lakebed
from lakebed.catalog.schema_file import dumps, loads
from referees.client import Referees
from referees.java import JavaReferee

ATOMIC = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "STRING", "BYTES"),
    *("DECIMAL(10, 2)", "DECIMAL(38, 38)", "CHAR(3)", "VARCHAR(7)", "BINARY(3)", "VARBINARY(7)", "TIME(0)", "TIME(9)"),
    *("TIMESTAMP(0)", "TIMESTAMP(9)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
)


def test_every_type_is_written_as_java_writes_it(tmp_path: Path, java: JavaReferee) -> None:
    fields: list[tuple[str, object]] = [(f"f{i}{n}", t + n) for i, t in enumerate(ATOMIC) for n in ("", " NOT NULL")]
    for nullability in ("", " NOT NULL"):
        row = {"type": "ROW" + nullability, "fields": [{"name": "x", "type": "INT"}, {"name": "é", "type": "DATE"}]}
        for name, kind in (
            ("a", {"type": "ARRAY" + nullability, "element": "INT" + nullability}),
            ("m", {"type": "MAP" + nullability, "key": "STRING NOT NULL", "value": row}),
            ("s", {"type": "MULTISET" + nullability, "element": "STRING"}),
            ("r", row),
        ):
            fields.append((name + nullability, kind))
    java.create(tmp_path, "db.t", fields, options={"file.format": "parquet", "b": "1", "a": 'q"\\'}, comment="ü \n \t")
    data = (tmp_path / "db.db/t/schema/schema-0").read_bytes()
    schema = loads(data, source="java", expected_id=0)
    assert len(schema.fields) == 2 * (len(ATOMIC) + 4)
    # The order of options in Java's files is that of a hash map, the one thing that is not copied.
    said = re.search(r'"options" : \{\n(.*?)\n  \}', data.decode(), re.DOTALL)
    assert said
    sorted_options = ",\n".join(sorted(said[1].split(",\n")))
    assert dumps(schema).decode() == data.decode().replace(said[1], sorted_options)


def test_a_table_of_the_first_version_is_altered_and_read_by_others(tmp_path: Path, referees: Referees) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", ["k INT", "v STRING"], options={"file.format": "parquet"})
    file = tmp_path / "db.db/t/schema/schema-0"
    content = {k: v for k, v in json.loads(file.read_text()).items() if k != "version"}
    file.write_text(json.dumps(content))
    (tmp_path / "db.db/t/metadata").unlink(missing_ok=True)
    referees.append(tmp_path, "db.t", pa.table({"k": pa.array([1], pa.int32()), "v": ["a"]}))
    lake = lakebed.open(tmp_path)
    assert (lake.schema("db.t").version, lake.schema("db.t").options["bucket"]) == (1, "1")
    lake.tables.alter_table("db", "t", [{"action": "renameColumn", "fieldNames": ["v"], "newName": "w"}])
    new = lake.merge_schema("db.t", ["k BIGINT", "n INT"])
    assert (new.id, new.version, dict(new.options)) == (2, 3, {"bucket": "1", "file.format": "parquet"})
    # pypaimon-rust does not know files without a version.
    assert referees.rows("pypaimon", tmp_path, "db.t") == [[1, "a", None]]
