"""pypaimon and pypaimon-rust as referees: they run in an environment of their own, in one worker a test session."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import pyarrow as pa

from referees.encoding import Row, Value
from referees.filters import Filter

Reader = Literal["pypaimon", "rust"]
FieldLike = Mapping[str, Any] | Sequence[Any]

_REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENT = _REPOSITORY / ".venv-referees"


class RefereeError(Exception):
    """A referee refused or failed; `kind` is the class of its error."""

    def __init__(self, kind: str, message: str, trace: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.add_note(trace)


class Referees:
    """Asks the worker, which starts with the first request and ends with `close`.

    Tables are named `db.t`; rows are in the encoding of `encoding.py`; changes are in Paimon's REST JSON form.
    """

    def __init__(self, environment: Path = ENVIRONMENT, *, timeout: float = 180) -> None:
        self._python = environment / "bin" / "python"
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self._pending = b""

    def versions(self) -> dict[str, str]:
        """The versions of the referees."""
        return dict(self._ask("versions"))

    def options(self) -> dict[str, dict[str, Any]]:
        """The table options that pypaimon knows: `{"kind": class name, "words": [...]}` by name."""
        return dict(self._ask("options"))

    def read_form(self, form: str, text: str) -> Any:
        """What the library of another form says of a schema: names, ids and nullability of its columns; see `forms`."""
        return self._ask("read_form", form=form, text=text)

    def rows(
        self,
        reader: Reader,
        warehouse: str | os.PathLike[str],
        table: str,
        *,
        filter: Filter | None = None,
        columns: Sequence[str] | None = None,
        snapshot: int | None = None,
        branch: str | None = None,
        tag: str | None = None,
    ) -> list[Row]:
        """All rows of a table, or those that a filter (see `filters.py`) keeps."""
        return list(
            self._ask(
                "rows",
                reader=reader,
                warehouse=str(warehouse),
                table=table,
                filter=filter,
                columns=columns,
                snapshot=snapshot,
                branch=branch,
                tag=tag,
            )
        )

    def sql(self, warehouse: str | os.PathLike[str], text: str) -> list[Row]:
        """The rows of a query of pypaimon-rust's SQL engine; nested fields are spelt `r['x']`."""
        return list(self._ask("sql", warehouse=str(warehouse), text=text))

    def columns(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        *,
        snapshot: int | None = None,
        branch: str | None = None,
    ) -> list[tuple[str, str]]:
        """Column names and type texts as pypaimon sees them, for `comparison.assert_same_rows`."""
        found = self._ask("columns", warehouse=str(warehouse), table=table, snapshot=snapshot, branch=branch)
        return [(name, kind) for name, kind in found]

    def create(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        fields: Iterable[FieldLike],
        *,
        partition_keys: Sequence[str] = (),
        primary_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        """Makes a table with pypaimon. A field is (name, type text or type JSON) or the object of a schema file."""
        objects = [dict(f) if isinstance(f, Mapping) else {"name": f[0], "type": f[1]} for f in fields]
        self._ask(
            "create",
            warehouse=str(warehouse),
            table=table,
            fields=objects,
            partition_keys=list(partition_keys),
            primary_keys=list(primary_keys),
            options=dict(options or {}),
            comment=comment,
        )

    def append(
        self,
        warehouse: str | os.PathLike[str],
        table: str,
        rows: pa.Table | Sequence[Sequence[Value] | Mapping[str, Value]],
        *,
        branch: str | None = None,
        options: Mapping[str, str] | None = None,
        writer: Reader = "pypaimon",
        overwrite: Mapping[str, str] | None = None,
    ) -> None:
        """Appends in one commit: rows in the encoding, or an Arrow table of exactly the table's types.

        `options`, and `overwrite`, the static partition whose rows go, are for pypaimon only.
        """
        target: dict[str, Any] = {"warehouse": str(warehouse), "table": table, "branch": branch, "writer": writer}
        target |= {"options": dict(options or {}), "overwrite": None if overwrite is None else dict(overwrite)}
        if not isinstance(rows, pa.Table):
            self._ask("append", **target, rows=[dict(r) if isinstance(r, Mapping) else list(r) for r in rows])
            return
        with tempfile.NamedTemporaryFile(suffix=".arrow") as file:
            with pa.ipc.new_file(file.name, rows.schema) as writer:
                writer.write_table(rows)
            self._ask("append", **target, file=file.name)

    def change_rows(self, warehouse: str | os.PathLike[str], table: str, steps: Sequence[Mapping[str, Any]]) -> None:
        """Commits steps with pypaimon: `{"columns", "rows"}` appends or, with `_ROW_ID` among them, updates by row id.

        `{"delete": [ids]}` deletes rows; `options` go to the table for one step.
        """
        self._ask("change_rows", warehouse=str(warehouse), table=table, steps=[dict(step) for step in steps])

    def alter(self, warehouse: str | os.PathLike[str], table: str, changes: Iterable[Mapping[str, Any]]) -> None:
        """Alters with pypaimon: the changes make one schema version."""
        self._ask("alter", warehouse=str(warehouse), table=table, changes=[dict(change) for change in changes])

    def evolve(self, cases: Iterable[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]) -> list[dict[str, Any]]:
        """What pypaimon makes of each schema (a file's object, version 0) and list of changes, in one request.

        Each answer is `{"schema": object}` or `{"refused": why}`.
        """
        return list(self._ask("evolve", cases=[{"schema": s, "changes": [dict(c) for c in cs]} for s, cs in cases]))

    def close(self) -> None:
        """Ends the worker."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        self._log.close()

    def _ask(self, request: str, **arguments: Any) -> Any:
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"do": request, "args": arguments}).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(self._line(process, request))
        if "error" in answer:
            error = answer["error"]
            raise RefereeError(error["type"], error["message"], error["trace"])
        return answer["result"]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            if not self._python.exists():
                raise FileNotFoundError(f"{self._python} is not there: `make referees` makes the referees' environment")
            self._pending = b""
            self._process = subprocess.Popen(
                [str(self._python), "-m", "referees.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**os.environ, "TZ": "UTC", "PYTHONPATH": str(_REPOSITORY / "tests")},
            )
        return self._process

    def _line(self, process: subprocess.Popen[bytes], request: str) -> bytes:
        """The next line of the worker, read without a buffer so that waiting can end."""
        assert process.stdout is not None
        channel = process.stdout.fileno()
        while b"\n" not in self._pending:
            ready, _, _ = select.select([channel], [], [], self._timeout)
            chunk = os.read(channel, 1 << 20) if ready else b""
            if not chunk:
                process.kill()
                process.wait()
                reason = "ended" if ready else f"did not answer in {self._timeout:g} s"
                self._log.seek(0)
                log = self._log.read().decode(errors="replace")[-4000:]
                raise RefereeError("WorkerFailure", f"the worker {reason} ({request})", log)
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line
