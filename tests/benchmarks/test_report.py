"""The report of the measurements: what is met, what failed and is told, and that pictures come out."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench import __main__ as runner
from bench import measure, report
from bench.goals import GOALS, PEERS, Goal, growths
from bench.growth import exponent, growth

ON = {"machine": "2 cores, 8 GB, A Processor", "versions": {"python": "3.11.7", "pyspark": "4.3.0"}, "load before": 0.4}
RESULTS = {
    "arrow_read": {
        **ON,
        "took": 61,
        "found": {"times faster than pypaimon": 6.2, "lakebed read --limit 10, seconds": 0.71, "rows": 10_000_000},
    },
    "maintenance": {**ON, "took": 90, "found": {"compact by plain Spark, CPU": 1.9}},
    "schema_changes": {
        **ON,
        "took": 40,
        "found": {
            "changes a second": {"lakebed": 333, "pypaimon": 60},
            "times faster than pypaimon": 5.55,
            "growth": [
                growth("columns", "plan that widens all", "CPU s", {1_000: 0.15, 10_000: 1.9}),
                growth("versions", "one more", "CPU s", {100: 0.002, 1_000: 0.0025}),
            ],
        },
    },
    "writes": {**ON, "failed": "ended with 1 after 3 s: FileNotFoundError: '/somewhere/bench/x' is not there"},
}


def lines(text: str, *words: str) -> list[str]:
    return [line for line in text.splitlines() if all(word in line for word in words)]


def test_goals_are_told_with_what_was_measured_and_whether_they_are_met():
    text = report.report(RESULTS)
    assert lines(text, "sum of two columns", "6.2 times faster", "at least 3.5", "yes")
    assert lines(text, "lakebed read --limit 10", "0.71 s", "at most 0.6", "| no |")
    assert lines(text, "schema changes of 200 columns", "333 a second", "at least 300", "yes")
    assert lines(text, "append of 10 M rows", "not measured", "| ? |")
    assert f"Met: 2. Not met: 2. Not measured: {len(GOALS) - 4}." in text


def test_growth_is_told_by_its_exponent():
    (line,) = lines(report.report(RESULTS), "plan that widens all")
    assert line == "| columns | plan that widens all | 1,000: 0.15, 10,000: 1.9 CPU s | 1.1 |"


def test_a_failure_is_told_without_the_paths_of_the_machine():
    text = report.report(RESULTS)
    assert lines(text, "- `writes` ended with 1 after 3 s")
    assert "/somewhere" not in text
    assert "\n## writes" not in text


def test_the_machine_is_told_once_for_all_that_ran_on_it():
    other = {**RESULTS, "writes": {**RESULTS["writes"], "machine": "64 cores"}}
    (row,) = lines(report.report(other), "2 cores, 8 GB")
    assert "arrow_read (61 s, 0.4)" in row
    assert "schema_changes (40 s, 0.4)" in row
    assert lines(report.report(other), "64 cores", "writes (failed, 0.4)")


def test_nothing_measured_is_a_report_too():
    assert f"Met: 0. Not met: 0. Not measured: {len(GOALS)}." in report.report({})


@pytest.mark.parametrize(
    ("limit", "at_least", "value", "met"),
    [(2, False, 2, True), (2, False, 2.1, False), (2, True, 2, True), (2, True, 1.9, False)],
)
def test_a_goal(limit, at_least, value, met):
    assert Goal("work", ("x",), limit=limit, at_least=at_least).is_met(value) is met


def test_times_faster_is_the_inverse_where_times_as_long_was_measured():
    by = {b.path: b.times_faster(RESULTS) for b in PEERS}
    assert by["arrow_read", "times faster than pypaimon"] == 6.2
    assert by["maintenance", "compact by plain Spark, CPU"] == pytest.approx(1 / 1.9)
    assert by["writes", "append against spark"] is None


def test_every_name_is_that_of_a_measurement():
    names = set(runner.LIMITS)
    assert {figure.path[0] for figure in (*GOALS, *PEERS)} <= names
    assert names >= measure.WITH_SPARK
    assert set(measure.QUICK) == names


def test_all_measurements_end_within_half_an_hour():
    assert runner.BUDGET + 60 < 30 * 60
    assert list(runner.LIMITS.values()) == sorted(runner.LIMITS.values()), "the long ones come last"


def test_exponents():
    assert exponent({1: 3, 10: 30, 100: 300}) == 1
    assert exponent({1: 3, 10: 300}) == 2
    assert exponent({1: 3, 10: 3}) == 0


def test_pictures_are_written_for_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "REPORT", tmp_path / "results.md")
    monkeypatch.setattr(report, "IMAGES", tmp_path / "images")
    report.write_report({})
    assert list((tmp_path / "images").iterdir()) == []
    report.write_report(RESULTS)
    for name in ("peers.png", "growth.png"):
        data = (tmp_path / "images" / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert int.from_bytes(data[16:20], "big") == 1600, "two pixels for each of 800"


# -- running --------------------------------------------------------------------------------------------------------


def ran(tmp_path: Path, program: str, limit: float = 60) -> dict:
    result = tmp_path / "result.json"
    return runner.measured([sys.executable, "-c", program, str(result)], result, limit)


def test_what_a_process_found(tmp_path):
    found = ran(tmp_path, "import sys, pathlib; print('noise'); pathlib.Path(sys.argv[1]).write_text('{\"a\": 1}')")
    assert found["found"] == {"a": 1}


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit('the two ways differ')", r"ended with 1 after \d+ s: the two ways differ"),
        ("pass", r"ended with 0 after \d+ s: it said nothing"),
        ("import os; os.abort()", r"ended with -6 after \d+ s: it said nothing"),
    ],
)
def test_a_process_that_fails_is_told(tmp_path, capsys, program, why):
    assert re.fullmatch(why, ran(tmp_path, program)["failed"])


def test_a_process_that_takes_too_long_is_ended(tmp_path):
    assert ran(tmp_path, "import time; time.sleep(600)", limit=0.1) == {"failed": "was ended after 0.1 s"}


def test_with_a_process_all_that_it_has_started_is_ended(tmp_path):
    child = "[sys.executable, '-c', 'import time; time.sleep(600)']"
    program = f"import subprocess, sys; p = subprocess.Popen({child}); print(p.pid, flush=True); p.wait()"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        started = Path(f"/proc/{int(process.stdout.readline())}/stat")
        runner._end(process)
    while started.exists() and started.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    assert process.returncode == -signal.SIGKILL


@pytest.fixture
def placed(tmp_path, monkeypatch):
    """Results and report in files of the test's; of all measurements only `writes` fails."""

    def measured(command, result, limit):
        name = command[3]
        return {"failed": "ended with 1"} if name == "writes" else {"took": 1, "found": {"name": name}}

    def write_report(results):
        (tmp_path / "results.md").write_text(report.report(results))

    monkeypatch.setattr(runner, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(runner, "write_report", write_report)
    monkeypatch.setattr(runner, "measured", measured)
    return tmp_path


def test_named_ones_are_measured_again_and_others_stay(placed):
    (placed / "results.json").write_text(json.dumps({**RESULTS, "gone": {}}))
    assert runner.main(["arrow_read", "writes", "commits"]) == 1
    results = json.loads((placed / "results.json").read_text())
    assert results["arrow_read"]["found"] == {"name": "arrow_read"}
    assert results["commits"]["found"] == {"name": "commits"}
    assert results["maintenance"] == RESULTS["maintenance"]
    assert "gone" not in results
    assert "## maintenance" in (placed / "results.md").read_text()


def test_one_that_fails_ends_no_other(placed):
    assert runner.main([]) == 1
    results = json.loads((placed / "results.json").read_text())
    assert set(results) == set(runner.LIMITS)
    assert [name for name, result in results.items() if "failed" in result] == ["writes"]


def test_what_would_begin_too_late_is_told(placed, monkeypatch):
    monkeypatch.setattr(runner, "BUDGET", -1)
    assert runner.main(["commits"]) == 1
    assert json.loads((placed / "results.json").read_text())["commits"]["failed"].startswith("was not begun")


def test_a_name_that_is_none_is_refused(placed, capsys):
    assert runner.main(["comits"]) == 2
    assert "comits" in capsys.readouterr().err
    assert not (placed / "results.json").exists()


def test_the_report_that_is_kept_is_that_of_the_results_that_are_kept():
    results = runner.read_results()
    assert report.REPORT.read_text(encoding="utf-8") == report.report(results)
    assert growths(results)
