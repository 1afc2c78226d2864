"""The registry of forms as Python users meet it: what is read in a form is written in any other."""

from __future__ import annotations

import pytest

from lakebed.convert.loss import Loss, LossReport
from lakebed.errors import CorruptMetadataError, UsageError
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.schema_forms import SOURCE_FORMS, TARGET_FORMS, SchemaSource, read_schema, write_schema

SCHEMA = Schema((Field("id", m.Int64()), Field("code", m.Option(m.String()), Extra({"x.org/pii": True}))))


def content(form: str) -> bytes:
    made = write_schema(SchemaSource("odf-yaml", SCHEMA), form).content
    return made if isinstance(made, bytes) else made.encode()


@pytest.mark.parametrize("form", sorted({*SOURCE_FORMS} & {*TARGET_FORMS}))
def test_a_form_that_is_read_and_written_gives_the_same_schema(form: str) -> None:
    found = read_schema(content(form), form)
    lost = write_schema(SchemaSource("odf-yaml", SCHEMA), form).report
    assert found.form == form
    assert (found.schema == SCHEMA) is not bool(lost)


@pytest.mark.parametrize("form", ["odf-json", "arrow", "arrow-json", "spark", "paimon", "iceberg", "avro"])
def test_the_form_is_told_by_what_is_in_it(form: str) -> None:
    assert read_schema(content(form)).form == form


def test_delta_is_told_from_spark_by_the_ids_of_its_column_mapping() -> None:
    pinned = Schema((Field("id", m.Int64()), Field("code", m.Option(m.String()), Extra({"lakebed.dev/fieldId": 7}))))
    made = write_schema(SchemaSource("odf-yaml", pinned), "delta").content
    found = read_schema(made if isinstance(made, bytes) else made.encode())
    assert (found.form, found.schema, found.report.losses) == ("delta", pinned, ())


def test_the_form_is_told_by_the_name_of_the_file() -> None:
    assert read_schema(b"a INT", name="x/orders.DDL").schema == Schema((Field("a", m.Option(m.Int32())),))


def test_what_is_lost_is_reported() -> None:
    report = write_schema(SchemaSource("odf-yaml", SCHEMA), "ddl").report
    assert report == LossReport((Loss("code", "the attributes x.org/pii"),))


def test_what_a_form_says_beside_the_columns_comes_along() -> None:
    source = SchemaSource("odf-yaml", SCHEMA, ("id",), (), {"bucket": "2"})
    made = write_schema(source, "paimon").content
    assert isinstance(made, str)
    found = read_schema(made.encode())
    assert (found.primary_keys, found.options["bucket"]) == (("id",), "2")
    assert found.stored is not None
    assert SchemaSource.of_version(found.stored, "paimon") == found
    assert write_schema(found, "paimon").content == made


def test_forms_that_there_are_not() -> None:
    with pytest.raises(UsageError) as caught:
        read_schema(b"a INT", "dll")
    (found,) = caught.value.diagnostics
    assert (found.code, found.suggestions) == ("LB7054", ("ddl",))
    with pytest.raises(UsageError, match="there is no form of schemas 'parquet' here"):
        write_schema(SchemaSource("odf-yaml", SCHEMA), "parquet")


def test_what_cannot_be_told_or_read() -> None:
    with pytest.raises(UsageError, match="nothing says which form of schema <bytes> holds"):
        read_schema(b"a INT")
    with pytest.raises(CorruptMetadataError, match=r"rows\.parquet cannot be read as parquet"):
        read_schema(b"PAR1", name="rows.parquet")
    with pytest.raises(CorruptMetadataError, match="standard input cannot be read as parquet"):
        read_schema(b"PAR1", name="-")


def test_properties_of_a_manifest_that_no_form_has_are_told() -> None:
    said = "compatibility: FULL\n  consumers: [{name: billing}]\n  ignoreOptions: [a.*]\n  read: {format: csv}"
    text = (
        f"kind: Table\nversion: 1\ncontent:\n  name: a.b\n  {said}\n  schema: {{fields: [{{name: id, type: Int32}}]}}\n"
    )
    lost = [str(loss) for loss in read_schema(text.encode(), name="t.yaml").report.losses]
    assert lost == [f"the property {name}" for name in ("compatibility", "consumers", "ignoreOptions", "read")]
