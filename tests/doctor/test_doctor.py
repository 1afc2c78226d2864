"""The doctor's checks: each is seen to be ok, and to tell what it is there for."""

from __future__ import annotations

import sys
import zoneinfo
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog import PathFactory
from lakebed.codes import register
from lakebed.doctor import Check, DoctorReport, Place, State, examine
from lakebed.doctor import installed as libraries
from lakebed.doctor.installed import Requirement, check_extras, check_library, requirements
from lakebed.doctor.runtimes import check_git, check_java, check_python, check_time_zones, check_workers_python
from lakebed.doctor.storage import wall_clock
from lakebed.errors import StoreError
from lakebed.render.doctor_text import doctor_text
from lakebed.store import LocalStore

#: The oldest version of each library that is asked for.
OLDEST = {r.library: r.bounds.partition(">=")[2].partition(",")[0] for r in requirements()}
STORAGE = ["warehouse", "writable", "publishing", "clock"]


def judged(check: Check) -> tuple[State, str | None]:
    """State and code; what is not ok has a code that is registered and a remedy, what is ok has neither."""
    assert (check.code is not None, check.remedy is not None) == (check.state is not State.OK,) * 2
    assert check.code is None or check.code in register()
    return check.state, check.code


def put_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


class TestStorage:
    @pytest.fixture
    def warehouse(self, tmp_path: Path) -> Path:
        (tmp_path / "lake" / "shop.db").mkdir(parents=True)
        return tmp_path / "lake"

    def test_a_good_one_is_left_as_it_was(self, warehouse: Path) -> None:
        report = examine(str(warehouse))
        assert [judged(report[name]) for name in STORAGE] == [(State.OK, None)] * 4
        assert report["warehouse"].found == f"{warehouse} (paimon layout, 1 database)"
        assert tree(warehouse) == ["shop.db"]

    def test_what_others_have_in_scratch_stays(self, warehouse: Path) -> None:
        (warehouse / ".lakebed-scratch" / "of-another").mkdir(parents=True)
        assert examine(str(warehouse)).is_ok
        assert tree(warehouse) == [".lakebed-scratch", ".lakebed-scratch/of-another", "shop.db"]

    def test_nothing_is_written_where_that_is_not_wanted(
        self, warehouse: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(LocalStore, "replace", None)
        monkeypatch.setattr(LocalStore, "create_if_absent", None)
        report = examine(str(warehouse), write=False)
        assert report.is_ok
        assert "writable" not in [check.name for check in report.checks]

    def test_nothing_there(self, tmp_path: Path) -> None:
        report = examine(str(tmp_path / "nowhere"))
        assert judged(report["warehouse"]) == (State.FAIL, "LB3112")
        assert not report.is_ok
        assert tree(tmp_path) == []

    def test_one_that_takes_no_files(self, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:
            raise StoreError.of("LB3611", "you may not", remedy="ask")

        monkeypatch.setattr(LocalStore, "replace", refuse)
        report = examine(str(warehouse))
        assert judged(report["writable"]) == (State.FAIL, "LB3611")
        assert report.checks[-1] == report["writable"]

    @pytest.mark.parametrize("winners", ["all", "none", "the last to come"])
    def test_one_that_keeps_no_promise(self, warehouse: Path, monkeypatch: pytest.MonkeyPatch, winners: str) -> None:
        publish = LocalStore.create_if_absent

        def broken(store: LocalStore, path: str, data: bytes) -> bool:
            won = publish(store, path, data)
            if winners == "the last to come" and not won:
                store.replace(path, data)
            return {"all": True, "none": False}.get(winners, won)

        monkeypatch.setattr(LocalStore, "create_if_absent", broken)
        report = examine(str(warehouse))
        assert judged(report["publishing"]) == (State.FAIL, "LB7071")
        assert judged(report["clock"]) == (State.OK, None)
        assert tree(warehouse) == ["shop.db"]

    def test_one_that_is_accepted_without_a_promise(self, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Unsafe(LocalStore):
            """As a driver without a conditional put."""

            is_exclusive = False

        monkeypatch.setattr(Place, "open", lambda place: (PathFactory(warehouse), Unsafe()))
        report = examine(Place(str(warehouse), allow_overwrite_races=True))
        assert judged(report["publishing"]) == (State.WARN, "LB3605")
        assert report.is_ok

    def test_a_link_in_the_way_leads_nowhere(self, warehouse: Path, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (warehouse / ".lakebed-scratch").symlink_to(tmp_path / "elsewhere")
        report = examine(str(warehouse))
        assert judged(report["writable"]) == (State.FAIL, "LB3610")
        assert tree(tmp_path / "elsewhere") == []

    @pytest.mark.parametrize(("hours", "said"), [(-1, "3,600 s ahead of"), (1, "3,600 s behind")])
    def test_a_clock_that_is_wrong(self, warehouse: Path, hours: int, said: str) -> None:
        report = examine(str(warehouse), clock=lambda: wall_clock() + hours * 3_600_000)
        assert judged(report["clock"]) == (State.WARN, "LB7072")
        assert said in report["clock"].found or said.replace("3,600", "3,599") in report["clock"].found
        assert report.is_ok

    def test_secrets_are_not_kept(self) -> None:
        report = examine("s4://user:hunter2secret@host/x")
        assert judged(report["warehouse"])[0] is State.FAIL
        assert "hunter2secret" not in str(report) + repr(report)


class TestRuntimes:
    def test_python(self) -> None:
        assert sys.executable in check_python().found

    @pytest.mark.parametrize(("is_needed", "state"), [(True, State.FAIL), (False, State.WARN)])
    def test_java(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_needed: bool, state: State) -> None:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        assert judged(check_java(is_needed)) == (state, "LB6125")
        put_program(tmp_path / "bin" / "java", "#!/bin/sh\necho 'version \"11.0.2\"' >&2\n")
        assert judged(check_java(is_needed)) == (state, "LB6126")
        put_program(tmp_path / "bin" / "java", "#!/bin/sh\necho 'version \"21.0.2\"' >&2\n")
        found = check_java(is_needed)
        assert judged(found) == (State.OK, None)
        assert found.found == f"21 ({tmp_path}/bin/java; JAVA_HOME is {tmp_path})"

    def test_the_python_of_workers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("pyspark")
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
        assert judged(check_workers_python()) == (State.OK, None)
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
        assert judged(check_workers_python()) == (State.OK, None)
        other, own = tmp_path / "python", ".".join(map(str, sys.version_info[:2]))
        monkeypatch.setenv("PYSPARK_PYTHON", str(other))
        for text, said in {
            "echo '[\"3.2.1\", []]'": "Python 3.2.1; Spark wants the minor version of this one",
            f'echo \'["{own}.99", ["pyarrow"]]\'': "has no pyarrow",
            "echo nonsense": "does not run",
            "exit 3": "does not run",
        }.items():
            put_program(other, f"#!/bin/sh\n{text}\n")
            found = check_workers_python()
            assert judged(found) == (State.FAIL, "LB6461")
            assert said in found.found, found
        other.unlink()
        assert judged(check_workers_python()) == (State.FAIL, "LB6461")

    def test_time_zones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert judged(check_time_zones("Europe/Paris")) == (State.OK, None)
        assert judged(check_time_zones("Europe/Pariss")) == (State.FAIL, "LB3116")
        monkeypatch.setattr(zoneinfo, "available_timezones", set)
        assert judged(check_time_zones("UTC")) == (State.WARN, "LB3116")

    def test_git(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert judged(check_git()) == (State.WARN, "LB7061")
        put_program(tmp_path / "git", "")
        assert judged(check_git()) == (State.OK, None)

    def test_a_server_that_is_not_there(self) -> None:
        report = examine(remote="sc://127.0.0.1:1", spark=lambda: pytest.fail("Spark was started"))
        assert judged(report["spark-server"]) == (State.FAIL, "LB6450")
        assert judged(report["spark"]) == (State.FAIL, "LB7012")
        assert "java" not in [check.name for check in report.checks]

    def test_spark(self, spark) -> None:
        report = examine(spark=lambda: spark)
        assert judged(report["spark"]) == (State.OK, None)
        assert report["spark"].found.startswith(f"Spark {spark.version} counts to 3")


class TestLibraries:
    @pytest.mark.parametrize(
        ("text", "library", "bounds", "extra"),
        [
            ("click>=8.1.7", "click", ">=8.1.7", None),
            ("pyspark<5,>=4.0; extra == 'spark'", "pyspark", "<5,>=4.0", "spark"),
            ('fastavro[zstandard]>=1.9.7 ; extra == "x"', "fastavro", ">=1.9.7", "x"),
            ("rich", "rich", "", None),
        ],
    )
    def test_requirements(self, text: str, library: str, bounds: str, extra: str | None) -> None:
        assert Requirement.parse(text) == Requirement(library, bounds, extra)

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=3), st.lists(st.integers(0, 30), min_size=1, max_size=3))
    def test_bounds_are_an_order(self, given: list[int], bound: list[int]) -> None:
        version, wanted = (".".join(map(str, numbers)) for numbers in (given, bound))

        def allows(sign: str) -> bool:
            return Requirement("x", f"{sign}{wanted}", None).allows(version)

        padded = [[*numbers, 0, 0][:3] for numbers in (given, bound)]
        assert allows(">=") == (padded[0] >= padded[1])
        assert allows("<") == (not allows(">="))
        assert allows("==") == (not allows("!=")) == (allows(">=") and allows("<="))
        assert allows(">") == (not allows("<="))

    def test_what_follows_the_numbers_does_not_count(self) -> None:
        assert Requirement("x", ">=4.0,<5", None).allows("4.1.0.dev1")
        assert not Requirement("x", ">=4.0,<5", None).allows("5.0rc1")

    def test_the_metadata_of_lakebed_are_understood(self) -> None:
        asked = requirements()
        assert {"click", "pyarrow", "pyspark"} <= {r.library for r in asked}
        assert {r.extra for r in asked} >= {None, "spark", "arrow", "fsspec"}

    def test_versions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        versions = OLDEST | {"pyarrow": "17.0.0", "pandas": "99.1"}
        monkeypatch.setattr(libraries, "installed", versions.get)
        assert judged(check_library("pyarrow", "arrow")) == (State.FAIL, "LB7070")
        versions["pyarrow"] = "18.0.0"
        assert judged(check_library("pyarrow", "arrow")) == (State.OK, None)
        # pandas has an upper bound.
        assert judged(check_extras()) == (State.FAIL, "LB7070")
        versions["pandas"] = OLDEST["pandas"]
        assert judged(check_extras()) == (State.OK, None)

    def test_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        always = {r.library: OLDEST[r.library] for r in requirements() if r.extra is None}
        versions = always | {"pyarrow": OLDEST["pyarrow"]}
        monkeypatch.setattr(libraries, "installed", versions.get)
        assert judged(check_library("pyspark", "spark")) == (State.WARN, "LB6127")
        found = check_extras()
        assert (found.state, found.found) == (State.OK, "arrow")
        assert {"connect", "spark"} <= set(found.details[0].removeprefix("not installed: ").split(", "))
        del versions["pyarrow"]
        assert judged(check_library("pyarrow", "arrow")) == (State.WARN, "LB7051")
        del versions["click"]
        assert judged(check_extras()) == (State.FAIL, "LB7070")

    def test_not_installed_at_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(name: str) -> None:
            raise metadata.PackageNotFoundError(name)

        monkeypatch.setattr(metadata, "requires", refuse)
        assert judged(check_extras()) == (State.WARN, "LB7070")


def test_a_report_reads_as_on_the_command_line() -> None:
    good, bad = Check("java", State.OK, "17"), Check("git", State.WARN, "none\x1b[0m", "LB7061", "install it", ("x",))
    report = DoctorReport((good, bad))
    assert str(report) == doctor_text(report)
    assert str(report).splitlines() == [
        "ok    java  17",
        "warn  git   none\\x1b[0m",
        "            x",
        "            LB7061: `lakebed explain LB7061`",
        "            remedy: install it",
        "",
        "1 checks are ok, 1 warn, 0 failed.",
    ]
    assert report.to_json()["checks"][1]["code"] == "LB7061"
    with pytest.raises(KeyError):
        report["nothing"]
