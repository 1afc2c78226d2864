"""The table of known options: what is a value, what a name was meant to be, and that other implementations agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from lakebed.catalog import option_values
from lakebed.catalog import options as table_options
from lakebed.catalog.column_options import COLUMN_WORDS
from lakebed.catalog.option_rules import wrong_value
from lakebed.catalog.options import KNOWN, OPTIONS, Handling, Mutability, OptionKind
from lakebed.evolve import option_guards, option_names
from lakebed.evolve.option_notes import nearest
from lakebed.format import refuse_unsupported as support
from lakebed.format.merge_engine import NullKeys
from referees.client import Referees
from referees.java import JavaReferee

CONSTANTS = {n: value for n, value in vars(table_options).items() if n.isupper() and isinstance(value, str)}
SOURCE = Path(lakebed.__file__).parent

_KINDS = {
    **dict.fromkeys(("Boolean", "bool"), OptionKind.BOOLEAN),
    **{"Integer": OptionKind.INT, "Long": OptionKind.LONG},
    **dict.fromkeys(("Double", "Float", "float"), OptionKind.DECIMAL),
    "MemorySize": OptionKind.SIZE,
    **dict.fromkeys(("Duration", "timedelta"), OptionKind.DURATION),
}
#: Kinds that are texts to the others, with more to say about them here.
_TEXTS = {
    OptionKind.TEXT,
    OptionKind.COLUMNS,
    OptionKind.CODEC,
    OptionKind.CODECS_BY_LEVEL,
    OptionKind.TEXTS_BY_LEVEL,
    OptionKind.STATS_MODE,
}
#: Where implementations disagree, a text is all that can be asked for.
_DISAGREED = {"parquet.enable.dictionary", "partition.expiration-strategy"}


def test_no_option_is_listed_twice_and_all_that_are_used_are_listed() -> None:
    listed = [name for names in table_options._KINDS.values() for name in names.split()]
    listed += table_options._WORDS
    assert sorted(listed) == sorted(KNOWN)
    constants = set(CONSTANTS.values())
    used = option_guards._GUARDED | option_names._SHREDDING | constants | table_options._DEFAULTS.keys()
    used |= table_options.IMMUTABLE | table_options._RULED | table_options._FIXED
    used |= table_options._FOLLOWED | table_options._REFUSED
    assert used <= KNOWN
    assert not table_options._FOLLOWED & table_options._REFUSED - {table_options.DATA_FILE_EXTERNAL_PATHS}


def test_what_lakebed_does_about_options() -> None:
    followed = {name for name, option in OPTIONS.items() if option.handling is Handling.FOLLOWED}
    refused = {name for name, option in OPTIONS.items() if option.handling is Handling.REFUSED}
    assert refused == support._READ_OPTIONS.keys() | support._WRITE_OPTIONS.keys()
    text = "".join(
        path.read_text() for path in SOURCE.rglob("*.py") if path.name not in ("options.py", "option_rules.py")
    )
    constants = {
        value: name for name, value in vars(table_options).items() if name.isupper() and isinstance(value, str)
    }
    assert sorted(name for name in followed if constants[name] not in text and repr(name) not in text) == []


def test_defaults_are_values() -> None:
    defaults = {name: option.default for name, option in OPTIONS.items() if option.default is not None}
    assert {name for name, default in defaults.items() if wrong_value(name, default)} == set()


def test_a_count_below_zero_is_no_value_where_a_write_would_follow_it() -> None:
    counts = {
        name
        for name, option in OPTIONS.items()
        if option.handling is Handling.FOLLOWED and option.kind in (OptionKind.INT, OptionKind.LONG)
    }
    # -1 is a number of buckets, and rules of their own judge limits.
    ruled = {table_options.BUCKET, table_options.TARGET_FILE_ROW_NUM}
    ruled |= {table_options.SNAPSHOT_NUM_RETAINED_MIN, table_options.SNAPSHOT_NUM_RETAINED_MAX}
    assert {name for name in counts if not wrong_value(name, "-1")} == ruled
    assert tuple(NullKeys) == COLUMN_WORDS["nested-key-null-strategy"]


def test_when_options_may_change() -> None:
    found = {name: option.mutability for name, option in OPTIONS.items()}
    assert found["bucket"] is Mutability.RULED
    assert found["bucket-key"] is Mutability.WHILE_EMPTY
    assert found["type"] is Mutability.NEVER
    assert found["file.format"] is Mutability.FREE
    assert {n for n, m in found.items() if m is not Mutability.FREE} == option_guards._GUARDED | {"path"}


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("bucket", ["4", "-1"], ["four", "", "4.0", "1e3", "٤", " 2 ", "2147483648"]),
        ("target-file-row-num", ["9223372036854775807"], ["9" * 20]),
        ("deletion-vectors.enabled", ["true", "FALSE"], ["yes", "1", ""]),
        ("lookup.hash-load-factor", ["0.75", "1"], ["much", "nan", "inf"]),
        ("target-file-size", ["128 mb", "64KB", "1024", "1 tebibytes"], ["128 pb", "mb", "-1", "1.5 mb"]),
        ("snapshot.time-retained", ["1 h", "30s", "2 days", "100"], ["PT1H", "1 fortnight", "h"]),
        ("file.compression", ["zstd", "LZ4", "none"], ["zzz", ""]),
        ("file.compression.per.level", ["0:lz4,1:zstd", ""], ["lz4", "0:zzz", "x:lz4"]),
        ("file.format.per.level", ["0:avro, 5:parquet"], ["avro"]),
        ("metadata.stats-mode", ["none", "truncate(16)", "FULL"], ["some", "truncate", "truncate(x)"]),
        ("fields.a.stats-mode", ["counts"], ["count"]),
        ("fields.a.ignore-retract", ["TRUE", "false"], ["yes", ""]),
        ("fields.a.b.distinct", ["true"], ["hm"]),
        ("fields.a.count-limit", ["0", "7"], ["-1", "many"]),
        ("fields.a.nested-key-null-strategy", ["Merge", "error"], ["keep"]),
        ("fields.ignore-retract", ["anything"], []),
        ("manifest.merge-min-count", ["0", "30"], ["-1", "x"]),
        ("commit.max-retries", ["0"], ["-3"]),
        ("file.compression.zstd-level", ["0", "22"], ["-500"]),
        ("sequence.field.sort-order", ["descending", "ASCENDING"], ["down"]),
        ("bucket-function.type", ["mod"], ["modulo"]),
        ("somebody.else", ["anything", ""], []),
        ("fields.a.aggregate-function", ["anything"], []),
    ],
)
def test_what_is_a_value(key: str, good: list[str], bad: list[str]) -> None:
    assert [text for text in good if wrong_value(key, text)] == []
    assert [text for text in bad if not wrong_value(key, text)] == []


def test_sizes_and_durations() -> None:
    assert [option_values.byte_size(t) for t in ("8 mb", "1024", "64KB", "1g")] == [8 << 20, 1024, 64 << 10, 1 << 30]
    assert [option_values.duration_millis(t) for t in ("1 h", "10 ms", "5", "2 µs")] == [3_600_000, 10, 5, 0.002]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("bukcet", "bucket"),
        ("fileformat", "file.format"),
        ("merge_engine", "merge-engine"),
        ("snapshot.num-retained", "snapshot.num-retained.max"),
        ("Bucket", "bucket"),
        ("deletion-vector.enabled", "deletion-vectors.enabled"),
        ("fields.a.agregate-function", "fields.a.aggregate-function"),
        ("fields.a,b.sequence_group", "fields.a,b.sequence-group"),
        ("file-index.bloomfilter.columns", "file-index.bloom-filter.columns"),
        ("file-index.bitmap.column", "file-index.bitmap.columns"),
    ],
)
def test_what_a_name_was_meant_to_be(key: str, meant: str) -> None:
    found = nearest(key)
    assert found is not None
    assert found == meant or (key.startswith("snapshot.") and found.startswith("snapshot.num-retained."))


@pytest.mark.parametrize(
    "key",
    [
        *("x", "team", "owner", "acme.retention", "lakebed.schema", "parquet.block.sise", "orc.stripe.size"),
        *("fields.a.aggregate-function", "fields.a.map.storage-layout", "file-index.bitmap.a.version"),
        *("file-index.bloom-filter.columns", "commit.callback.com.acme.Call.param", "metadata.iceberg.storage"),
        *("sink.parallelism", "write.merge-schema", "connector", "table-default.bucket", "pk-vector.index.columns"),
    ],
)
def test_names_of_others_are_left_alone(key: str) -> None:
    assert nearest(key) is None


def test_known_names_have_no_nearest() -> None:
    assert [name for name in sorted(KNOWN) if nearest(name) is not None] == []


@given(st.sampled_from(sorted(n for n in KNOWN if len(n) >= 8 and not n.startswith(("fields.", "pk-")))), st.data())
def test_two_letters_that_changed_places_are_seen(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(name) - 2))
    slip = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    first_dot = name.find(".")
    if slip in KNOWN or slip == name or -1 < first_dot <= at + 1 or nearest(name[:first_dot] + ".x"):
        return
    assert nearest(slip) is not None or slip.startswith(("parquet.", "orc."))


def test_pypaimon_knows_no_other_options(referees: Referees) -> None:
    found = referees.options()
    assert len(found) > 100
    assert sorted(set(found) - KNOWN) == []
    for key, option in found.items():
        _agree(key, option["kind"], option["words"])


def test_java_knows_no_other_options(java: JavaReferee) -> None:
    found = java.options()
    assert len(found) > 100
    assert sorted(key for key in set(found) - KNOWN if "#" not in key) == []
    for key, (kind, words) in found.items():
        _agree(key, kind, words)


def _agree(key: str, kind: str, words: list[str]) -> None:
    if "#" in key or key in _DISAGREED:
        return
    known = OPTIONS[key].kind
    if words:
        assert set(words) <= set(OPTIONS[key].words), key
    elif kind == "int":  # Python's has no bounds.
        assert known in (OptionKind.INT, OptionKind.LONG), key
    elif known is not OptionKind.WORD:
        assert known is _KINDS.get(kind, known), (key, kind)
        assert kind in _KINDS or known in _TEXTS, (key, kind)
