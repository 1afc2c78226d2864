"""Java Paimon 0.9 as a referee, through py4j and a jar that the source distribution of pypaimon 0.2.0 carries.

What that version cannot do and Lakebed's tests must not ask of it: read nested evolution, TIMESTAMP(7..9) stored as
INT64, decimals of up to 18 digits stored as bytes (pypaimon's files), and a cast that makes a decimal NULL. A ROW of
NULLs reads as NULL. pypaimon 2.1.0 in turn cannot read a table after Java 0.9 appended to it (its manifests lack a
field that pypaimon wants); pypaimon-rust can.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from referees import filters
from referees.encoding import Row, Value, arrow_rows, arrow_table

_REPOSITORY = Path(__file__).resolve().parents[2]
JAR = _REPOSITORY / ".cache" / "referees" / "paimon-python-java-bridge-0.9.0.jar"

# What the fat jar lacks; pyspark carries all of it.
_NEEDED = (
    "hadoop-client-api",
    "hadoop-client-runtime",
    "slf4j-api",
    "snappy-java",
    "zstd-jni",
    "netty-common",
    "netty-buffer",
    "py4j",
)


class JavaReferee:
    """Asks a Java virtual machine, which starts with the first request and ends with `close`.

    Tables are named `db.t`; rows are in the encoding of `encoding.py`; changes are in Paimon's REST JSON form.
    """

    def __init__(self, jar: Path = JAR) -> None:
        self._jar = jar
        self._gateway: Any = None
        self._process: Any = None

    def rows(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        *,
        filter: filters.Filter | None = None,
        columns: Sequence[str] | None = None,
        snapshot: int | None = None,
        branch: str | None = None,
        tag: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> list[Row]:
        """All rows of a table, or those that a filter on booleans, numbers and texts keeps; `options` are dynamic."""
        travel = {"scan.snapshot-id": str(snapshot)} if snapshot else {"scan.tag-name": tag} if tag else {}
        found = self._table(warehouse, table, branch, {**travel, **(options or {})})
        names = [str(name) for name in found.rowType().getFieldNames()]
        util = self._paimon.python.InvocationUtil
        builder = util.getReadBuilder(found)
        if filter is not None:
            builder = builder.withFilter(self._predicate(found.rowType(), filter))
        elif columns is not None:
            # Columns that this version cannot read are left alone then.
            builder, names = builder.withProjection(self._positions(names, columns)), list(columns)
        read = builder.newRead()
        if filter is not None:
            read = read.executeFilter()
        rows = self._read(builder, read, builder.newScan().plan().splits())
        if columns is None:
            return rows
        positions = [names.index(column) for column in columns]
        return [[row[i] for i in positions] for row in rows]

    def changes(self, warehouse: str | os.PathLike[str], table: str, snapshots: Iterable[int]) -> list[list[Row]]:
        """What a stream gets of each of these snapshots: rows with their kinds before the columns."""
        found = self._table(warehouse, f"{table}$audit_log", None, {})
        builder = self._paimon.python.InvocationUtil.getReadBuilder(found)
        told = []
        for snapshot in snapshots:
            scan = builder.newStreamScan()
            scan.restore(snapshot)
            told.append(self._read(builder, builder.newRead(), scan.plan().splits()))
        return told

    def _read(self, builder: Any, read: Any, splits: Any) -> list[Row]:
        reader = self._paimon.python.InvocationUtil.createParallelBytesReader(read, builder.readType(), 1)
        reader.setSplits(splits)
        rows: list[Row] = []
        while (message := reader.next()) is not None:
            rows += arrow_rows(pa.ipc.open_stream(message).read_all())
        return rows

    def schema(self, warehouse: str | os.PathLike[str], table: str, *, branch: str | None = None) -> dict[str, Any]:
        """The table's latest schema as Java writes it: the object that a schema file holds."""
        found = self._table(warehouse, table, branch, {})
        return dict(json.loads(self._paimon.utils.JsonSerdeUtil.toJson(found.schema())))

    def create(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        fields: Iterable[tuple[str, Any]],
        *,
        partition_keys: Sequence[str] = (),
        primary_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        """Makes a table. A field is (name, type text or type JSON)."""
        builder = self._paimon.schema.Schema.newBuilder()
        for name, kind in fields:
            builder.column(name, self._type(kind))
        builder.partitionKeys(list(partition_keys)).primaryKey(list(primary_keys)).options(dict(options or {}))
        if comment is not None:
            builder.comment(comment)
        catalog = self._catalog(warehouse)
        catalog.createDatabase(table.split(".")[0], True)
        catalog.createTable(self._identifier(table), builder.build(), False)

    def append(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        rows: pa.Table | Sequence[Sequence[Value] | Mapping[str, Value]],
    ) -> None:
        """Appends in one commit: rows in the encoding, or an Arrow table of exactly the table's types."""
        found = self._table(warehouse, table, None, {})
        if not isinstance(rows, pa.Table):
            schema = pa.ipc.open_stream(self._paimon.python.SchemaUtil.getArrowSchema(found.rowType())).schema
            rows = arrow_table(rows, schema)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        util = self._paimon.python.InvocationUtil
        builder = util.getBatchWriteBuilder(found)
        write, commit = builder.newWrite(), builder.newCommit()
        data = util.createBytesWriter(write, found.rowType())
        try:
            data.write(sink.getvalue().to_pybytes())
            commit.commit(write.prepareCommit())
        finally:
            data.close()
            write.close()
            commit.close()

    def write(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        rows: Iterable[tuple[str, Sequence[int | str | None]]] = (),
        *,
        overwrite: Mapping[str, str] | None = None,
        compact: Iterable[Sequence[int | str | None]] = (),
    ) -> None:
        """Writes rows of INT and STRING columns, each with its kind (`+I`), in one commit.

        `overwrite` is a static partition, `{}` those that rows go to. The buckets of the rows of `compact` are
        compacted in full.
        """
        found = self._table(warehouse, table, None, {})
        builder = self._paimon.python.InvocationUtil.getBatchWriteBuilder(found)
        if overwrite is not None:
            builder = builder.withOverwrite(dict(overwrite))
        write, commit = builder.newWrite(), builder.newCommit()
        # First-row tables look keys up in files of their own.
        write.withIOManager(self._paimon.disk.IOManager.create(tempfile.gettempdir()))
        try:
            for kind, values in rows:
                write.write(self._row(kind, values))
            for row in (self._row("+I", values) for values in compact):
                write.compact(write.getPartition(row), write.getBucket(row), True)
            commit.commit(write.prepareCommit())
        finally:
            write.close()
            commit.close()

    def expire_partitions(self, warehouse: str | os.PathLike[str], table: str) -> list[str]:
        """Removes the partitions that are due by the table's options now; their texts."""
        found = self._table(warehouse, table, None, {"partition.expiration-check-interval": "0 s"})
        expired = found.store().newPartitionExpire("expiring").expire(self._running().jvm.Long.MAX_VALUE)
        return sorted("/".join(f"{key}={value}" for key, value in dict(p).items()) for p in expired)

    def statistics(self, warehouse: str | os.PathLike[str], table: str) -> dict[str, Any]:
        """The statistics of the newest snapshot, with the values that Java has made of their texts as texts again."""
        store = self._table(warehouse, table, None, {}).store()
        found = store.newStatsFileHandler().readStats().get()
        columns, fields = {}, self._fields(warehouse, table)
        said = json.loads(str(found.toJson()))
        for name, column in dict(found.colStats()).items():
            kind = next(f.type() for f in fields if f.name() == name)
            serializer = self._paimon.data.serializer.InternalSerializers.create(kind)
            ends = {"min": column.min(), "max": column.max()}
            texts = {k: str(serializer.serializeToString(v.get())) for k, v in ends.items() if v.isPresent()}
            columns[str(name)] = {**said["colStats"][name], **texts}
        return {**said, "colStats": columns}

    def _fields(self, warehouse: str | os.PathLike[str], table: str) -> list[Any]:
        return list(self._table(warehouse, table, None, {}).rowType().getFields())

    def alter(self, warehouse: str | os.PathLike[str], table: str, changes: Iterable[Mapping[str, Any]]) -> None:
        """Alters top-level columns and options: the changes make one schema version."""
        made = [self._change(change) for change in changes]
        self._catalog(warehouse).alterTable(self._identifier(table), made, False)

    def options(self) -> dict[str, tuple[str, list[str]]]:
        """The table options that Java knows: the class of the value, and its words where that is an enumeration."""
        reflected = self._running().jvm.java.lang.Class.forName("org.apache.paimon.options.ConfigOption")
        kind_of = reflected.getDeclaredField("clazz")
        kind_of.setAccessible(True)
        found: dict[str, tuple[str, list[str]]] = {}
        for option in self._paimon.CoreOptions.getOptions():
            kind = kind_of.get(option)
            words = [str(word.toString()) for word in kind.getEnumConstants()] if kind.isEnum() else []
            found[str(option.key())] = (str(kind.getSimpleName()), words)
        return found

    def option_value(self, kind: str, text: str) -> bool | int | float | str | None:
        """What Java reads in the text of an option, None where it refuses the text.

        `kind` is `boolean`, `int`, `long`, `double`, `memory` (bytes), `duration` (milliseconds), `enum` (a merge
        engine), or `parseBoolean`, as `SchemaManager` reads the options that keep columns from changing.
        """
        if kind == "parseBoolean":
            return bool(self._running().jvm.java.lang.Boolean.parseBoolean(text))
        options = self._paimon.options.Options()
        options.set("k", text)
        builder = self._paimon.options.ConfigOptions.key("k")
        words = [self._class("org.apache.paimon.CoreOptions$MergeEngine")] if kind == "enum" else []
        try:
            value = options.get(getattr(builder, f"{kind}Type")(*words).noDefaultValue())
            if kind == "enum":
                return str(value.toString())
            if kind == "memory":
                return int(value.getBytes())
            return float(value.toNanos()) / 1e6 if kind == "duration" else value
        except Exception as error:
            if _java_class(error) in ("IllegalArgumentException", "ArithmeticException"):
                return None
            raise

    def partition_time(
        self, values: Mapping[str, str | int], pattern: str | None = None, formatter: str | None = None
    ) -> str | None:
        """The time that the values of a partition say, as ISO text; None where Java cannot tell."""
        extractor = self._paimon.partition.PartitionTimeExtractor(pattern, formatter)
        try:
            return str(extractor.extract(list(values), list(values.values())).toString())
        except Exception as error:
            if _java_class(error) in ("DateTimeParseException", "IllegalArgumentException"):
                return None
            raise

    @contextmanager
    def in_zone(self, zone: str) -> Iterator[None]:
        """As if the virtual machine had been started in that time zone."""
        zones = self._running().jvm.java.util.TimeZone
        before = zones.getDefault()
        zones.setDefault(zones.getTimeZone(zone))
        try:
            yield
        finally:
            zones.setDefault(before)

    def close(self) -> None:
        """Ends the virtual machine."""
        if self._gateway is not None:
            self._gateway.shutdown()
            self._process.stdin.close()
            self._process.wait(timeout=30)
            self._gateway = None

    # --- the gateway --------------------------------------------------------------------------------------------------

    @property
    def _paimon(self) -> Any:
        return self._running().jvm.org.apache.paimon

    def _running(self) -> Any:
        if self._gateway is None:
            from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

            if not self._jar.exists():
                raise FileNotFoundError(f"{self._jar} is not there: `make referees` fetches it")
            path = [str(self._jar), *_spark_jars()]
            home = os.environ.get("JAVA_HOME")
            options = [
                "--add-opens=java.base/java.nio=ALL-UNNAMED",
                "-Duser.timezone=UTC",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
            ]
            port, token, self._process = launch_gateway(
                classpath=os.pathsep.join(path),
                jarpath=path[-1],
                java_path=os.path.join(home, "bin", "java") if home else "java",
                javaopts=options,
                die_on_exit=True,
                enable_auth=True,
                return_proc=True,
            )
            # Python's lists and dicts become Java's by themselves.
            self._gateway = JavaGateway(
                gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True)
            )
        return self._gateway

    def _catalog(self, warehouse: str | os.PathLike[str]) -> Any:
        options = self._paimon.options.Options()
        options.set("warehouse", str(warehouse))
        return self._paimon.catalog.CatalogFactory.createCatalog(self._paimon.catalog.CatalogContext.create(options))

    def _identifier(self, table: str, branch: str | None = None) -> Any:
        database, name = table.split(".")
        return self._paimon.catalog.Identifier.create(database, f"{name}$branch_{branch}" if branch else name)

    def _table(self, warehouse: str | os.PathLike[str], table: str, branch: str | None, options: dict[str, str]) -> Any:
        found = self._catalog(warehouse).getTable(self._identifier(table, branch))
        return found.copy(options) if options else found

    # --- values of Java -----------------------------------------------------------------------------------------------

    def _type(self, kind: Any) -> Any:
        """A type from its text or JSON. Java wants ids inside of a ROW here and numbers them anew."""
        holder = json.dumps({"id": 0, "name": "f", "type": _numbered(kind)})
        field = self._paimon.utils.JsonSerdeUtil.fromJson(holder, self._class("org.apache.paimon.types.DataField"))
        return field.type()

    def _row(self, kind: str, values: Sequence[int | str | None]) -> Any:
        row_kind = self._paimon.types.RowKind.fromShortString(kind)
        row = self._paimon.data.GenericRow(row_kind, len(values))
        for i, value in enumerate(values):
            text = isinstance(value, str)
            row.setField(i, self._paimon.data.BinaryString.fromString(value) if text else value)
        return row

    def _class(self, name: str) -> Any:
        return self._running().jvm.java.lang.Class.forName(name)

    def _move(self, move: Mapping[str, Any]) -> Any:
        make = getattr(self._running().jvm, "org.apache.paimon.schema.SchemaChange$Move")
        reference = move.get("referenceFieldName")
        return getattr(make, move["type"].lower())(move["fieldName"], *([reference] if reference else []))

    def _change(self, change: Mapping[str, Any]) -> Any:
        make = self._paimon.schema.SchemaChange
        name = change.get("fieldNames", [None])[-1]
        if len(change.get("fieldNames", [])) > 1:
            raise ValueError("Java 0.9 changes top-level columns only")
        match change["action"]:
            case "setOption":
                return make.setOption(change["key"], change["value"])
            case "removeOption":
                return make.removeOption(change["key"])
            case "updateComment":
                return make.updateComment(change.get("comment"))
            case "addColumn":
                kind, comment, move = self._type(change["dataType"]), change.get("comment"), change.get("move")
                return (
                    make.addColumn(name, kind, comment, self._move(move))
                    if move
                    else make.addColumn(name, kind, comment)
                )
            case "renameColumn":
                return make.renameColumn(name, change["newName"])
            case "dropColumn":
                return make.dropColumn(name)
            case "updateColumnType":
                return make.updateColumnType(
                    name, self._type(change["newDataType"]), change.get("keepNullability", False)
                )
            case "updateColumnNullability":
                return make.updateColumnNullability(name, change["newNullability"])
            case "updateColumnComment":
                return make.updateColumnComment(name, change.get("newComment"))
            case "updateColumnPosition":
                return make.updateColumnPosition(self._move(change["move"]))
            case other:
                raise ValueError(f"Java 0.9 does not know the change {other}")

    def _positions(self, names: Sequence[str], columns: Sequence[str]) -> Any:
        """Java's `int[]` of the positions of columns."""
        gateway = self._running()
        made = gateway.new_array(gateway.jvm.int, len(columns))
        for i, column in enumerate(columns):
            made[i] = names.index(column)
        return made

    def _predicate(self, row_type: Any, condition: filters.Filter) -> Any:
        predicates = self._paimon.predicate.PredicateBuilder(row_type)

        def leaf(column: str, method: str, values: list[Any]) -> Any:
            index = predicates.indexOf(column)
            kind = row_type.getTypeAt(index)
            literals = [predicates.convertJavaObject(kind, value) for value in values]
            if method in {"in", "notIn"}:
                return getattr(predicates, method)(index, literals)
            return getattr(predicates, method)(index, *literals)

        def combine(word: str, parts: list[Any]) -> Any:
            return getattr(predicates, "and" if word == "and" else "or")(parts)

        return filters.build(condition, leaf, combine)


def _java_class(error: BaseException | None) -> str | None:
    """The class of what Java raised. Where a Spark session runs, pyspark puts an error of its own before it."""
    from py4j.protocol import Py4JJavaError

    while error is not None and not isinstance(error, Py4JJavaError):
        error = error.__context__
    return None if error is None else str(error.java_exception.getClass().getSimpleName())


def _numbered(kind: Any, counter: list[int] | None = None) -> Any:
    """A type's JSON with an id on every field inside."""
    counter = counter if counter is not None else [0]
    if isinstance(kind, list):
        return [_numbered(item, counter) for item in kind]
    if not isinstance(kind, dict):
        return kind
    copy = {key: _numbered(value, counter) for key, value in kind.items()}
    if "name" in copy:
        counter[0] += 1
        copy["id"] = counter[0]
    return copy


def _spark_jars() -> list[str]:
    import pyspark

    directory = Path(pyspark.__file__).parent / "jars"
    found = []
    for name in _NEEDED:
        jars = sorted(directory.glob(f"{name}-[0-9]*.jar"))
        if len(jars) != 1:
            raise FileNotFoundError(f"pyspark has {len(jars)} jars {name}, not one, in {directory}")
        found.append(str(jars[0]))
    return found
