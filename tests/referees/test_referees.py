"""The referees themselves: they can be asked for everything that the other tests ask, and they agree."""

from pathlib import Path

import pytest

from referees.client import RefereeError, Referees
from referees.comparison import assert_same_rows
from referees.corpus import ExpectedTable
from referees.java import JavaReferee

FIELDS = [
    ("k", "INT NOT NULL"),
    ("s", "STRING"),
    ("r", {"type": "ROW", "fields": [{"name": "x", "type": "INT"}, {"name": "y", "type": "DATE"}]}),
    ("l", {"type": "ARRAY", "element": "DOUBLE"}),
    ("m", {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}),
    ("t3", "TIMESTAMP(3)"),
    ("z6", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ("d", "DECIMAL(20, 2)"),
    ("b", "BYTES"),
    ("f", "FLOAT"),
]
ROWS = [
    [
        1,
        "one",
        [1, "2024-02-29"],
        [0.5, None],
        [["a", 1], ["b", None]],
        "2024-01-01T01:02:03.456000000",
        "1969-12-31T23:59:59.999999000Z",
        "1.20",
        "hex:00ff",
        0.1,
    ],
    [2, None, [None, "1969-12-31"], [], [], None, None, None, None, None],
    [3, "three", None, None, None, None, None, None, None, None],
]


@pytest.fixture
def warehouse(tmp_path: Path, referees: Referees) -> Path:
    """A warehouse with the table `db.t`, made and filled by pypaimon."""
    referees.create(tmp_path, "db.t", FIELDS, comment="a table", options={"owner": "tests"})
    referees.append(tmp_path, "db.t", ROWS)
    return tmp_path


def test_the_versions_are_the_ones_that_were_studied(referees: Referees) -> None:
    found = referees.versions()
    assert (found["pypaimon"], found["pypaimon-rust"]) == ("2.1.0", "0.4.0")


@pytest.mark.parametrize("reader", ["pypaimon", "rust"])
def test_rows_come_back(warehouse: Path, referees: Referees, reader: str) -> None:
    assert_same_rows(ROWS, referees.rows(reader, warehouse, "db.t"), referees.columns(warehouse, "db.t"))
    assert sorted(referees.rows(reader, warehouse, "db.t", columns=["s", "k"]), key=str) == [
        ["one", 1],
        ["three", 3],
        [None, 2],
    ]


@pytest.mark.parametrize("reader", ["pypaimon", "rust"])
@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        (["k", ">=", 2], [2, 3]),
        (["s", "is null"], [2]),
        (["k", "in", [1, 3]], [1, 3]),
        (["k", "between", [1, 2]], [1, 2]),
        (["and", ["k", "<", 3], ["s", "is not null"]], [1]),
        (["or", ["s", "=", "three"], ["d", "=", "1.20"]], [1, 3]),
        (["t3", "<=", "2024-01-01T01:02:03.456000000"], [1]),
        (["z6", "<", "1970-01-01T00:00:00Z"], [1]),
    ],
    ids=str,
)
def test_filters_keep_the_right_rows(
    warehouse: Path, referees: Referees, reader: str, condition: list, keys: list[int]
) -> None:
    found = referees.rows(reader, warehouse, "db.t", filter=condition, columns=["k"])
    assert sorted(found) == [[key] for key in keys]


def test_sql_sees_nested_fields(warehouse: Path, referees: Referees) -> None:
    assert referees.sql(warehouse, "select k, r['y'] from db.t where r['x'] = 1") == [[1, "2024-02-29"]]


@pytest.mark.parametrize("reader", ["pypaimon", "rust"])
def test_a_struct_of_nulls_is_no_null(warehouse: Path, referees: Referees, reader: str) -> None:
    referees.append(warehouse, "db.t", [{"k": 4, "r": {"x": None}}, {"k": 5, "r": None}])
    found = referees.rows(reader, warehouse, "db.t", filter=["k", ">", 3], columns=["k", "r"])
    assert sorted(found) == [[4, [None, None]], [5, None]]


def test_alter_makes_one_version_and_snapshots_keep_theirs(warehouse: Path, referees: Referees) -> None:
    changes = [
        {"action": "renameColumn", "fieldNames": ["s"], "newName": "text"},
        {"action": "addColumn", "fieldNames": ["r", "z"], "dataType": "BIGINT", "move": None},
        {
            "action": "addColumn",
            "fieldNames": ["n"],
            "dataType": {"type": "ROW", "fields": [{"id": 0, "name": "q", "type": "INT"}]},
            "comment": "new",
            "move": {"fieldName": "n", "referenceFieldName": "k", "type": "AFTER"},
        },
        {"action": "dropColumn", "fieldNames": ["b"]},
        {"action": "updateColumnType", "fieldNames": ["f"], "newDataType": "DOUBLE"},
        {"action": "setOption", "key": "owner", "value": "others"},
    ]
    referees.alter(warehouse, "db.t", changes)
    assert sorted(p.name for p in (warehouse / "db.db" / "t" / "schema").iterdir()) == ["schema-0", "schema-1"]
    names = [name for name, _ in referees.columns(warehouse, "db.t")]
    assert names == ["k", "n", "text", "r", "l", "m", "t3", "z6", "d", "f"]
    for reader in ("pypaimon", "rust"):
        assert [1, None, "one", [1, "2024-02-29", None]] in referees.rows(
            reader, warehouse, "db.t", columns=["k", "n", "text", "r"]
        )
        assert [1, "one"] in referees.rows(reader, warehouse, "db.t", columns=["k", "s"], snapshot=1)


def test_an_error_is_an_error_and_the_worker_goes_on(tmp_path: Path, referees: Referees) -> None:
    with pytest.raises(RefereeError, match="TableNotExist"):
        referees.rows("pypaimon", tmp_path, "db.none")
    with pytest.raises(RefereeError, match="none"):
        referees.rows("rust", tmp_path, "db.none")
    assert referees.versions()


def test_java_reads_what_pypaimon_wrote_and_rust_what_java_wrote(
    warehouse: Path, referees: Referees, java: JavaReferee
) -> None:
    columns = referees.columns(warehouse, "db.t")
    assert_same_rows(ROWS, java.rows(warehouse, "db.t"), columns)
    java.append(warehouse, "db.t", ROWS)
    assert_same_rows(ROWS + ROWS, referees.rows("rust", warehouse, "db.t"), columns)
    assert_same_rows(ROWS, java.rows(warehouse, "db.t", snapshot=1), columns)


def test_java_creates_alters_and_filters(tmp_path: Path, referees: Referees, java: JavaReferee) -> None:
    java.create(tmp_path, "db.t", FIELDS, options={"owner": "tests"}, comment="a table")
    java.append(tmp_path, "db.t", ROWS)
    changes = [
        {"action": "renameColumn", "fieldNames": ["s"], "newName": "text"},
        {"action": "addColumn", "fieldNames": ["n"], "dataType": "BIGINT", "move": {"fieldName": "n", "type": "FIRST"}},
        {"action": "dropColumn", "fieldNames": ["b"]},
        {"action": "setOption", "key": "owner", "value": "others"},
    ]
    java.alter(tmp_path, "db.t", changes)
    schema = java.schema(tmp_path, "db.t")
    assert (schema["id"], schema["highestFieldId"], schema["options"]["owner"]) == (1, 12, "others")
    assert java.rows(tmp_path, "db.t", columns=["n", "k"], filter=["text", "=", "three"]) == [[None, 3]]
    assert java.rows(tmp_path, "db.t", columns=["k"], filter=["or", ["k", ">", 2], ["text", "is null"]]) == [[2], [3]]
    assert len(referees.rows("rust", tmp_path, "db.t", filter=["text", "is null"])) == 1


CORPUS = [
    "parquet__append_with_bitmap",
    "parquet__append_with_bitmap_no_embedding",
    "parquet__append_with_bitmap_v1",
    "parquet__append_with_bloomfilter",
    "parquet__append_with_bsi_bitmap_bloomfilter",
    "parquet__append_table_with_alter_table",
    "parquet__append_table_with_alter_table@1",
    "parquet__append_table_with_rt_branch+branch_rt",
]


@pytest.mark.parametrize("key", CORPUS)
@pytest.mark.parametrize("reader", ["pypaimon", "rust"])
def test_the_readers_give_what_the_corpus_expects(key: str, reader: str, referees: Referees, expected_tables) -> None:
    def read(expected: ExpectedTable) -> list:
        return referees.rows(
            reader, expected.warehouse, expected.table, snapshot=expected.snapshot, branch=expected.branch
        )

    expected_tables(key, read)


def test_the_corpus_check_can_fail(expected_tables) -> None:
    with pytest.raises(AssertionError, match="7 found"):
        expected_tables("parquet__append_with_bitmap", lambda expected: expected.rows[:-1])
