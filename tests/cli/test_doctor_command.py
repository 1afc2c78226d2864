"""`lakebed doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command_line import CommandLine


def states(result: dict) -> dict[str, tuple[str, str | None]]:
    return {check["name"]: (check["state"], check["code"]) for check in result["checks"]}


def test_the_project_and_its_warehouse(lakebed: CommandLine, orders: Path, here: Path) -> None:
    before = sorted(here.rglob("*"))
    result = lakebed("--json", "doctor")
    found = states(result.json["result"])
    assert next(iter(found)) == "settings"
    assert [found[name] for name in ("settings", "warehouse", "writable", "publishing", "clock")] == [("ok", None)] * 5
    assert (result.code == 0) == result.json["ok"] == result.json["result"]["ok"]
    settings = next(c for c in result.json["result"]["checks"] if c["name"] == "settings")
    assert settings["found"] == f"{here}/lakebed.toml"
    assert [line.split() for line in settings["details"]][:2] == [
        ["warehouse", f"{here}/warehouse", f"{here}/lakebed.toml"],
        ["layout", "auto", "default"],
    ]
    assert sorted(here.rglob("*")) == before


def test_text(lakebed: CommandLine, orders: Path, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(here / "nowhere"))
    result = lakebed("doctor", "--read-only")
    assert result.err == ""
    assert "LB6125: `lakebed explain LB6125`" in result.out
    assert "publishing" not in result.out


def test_no_warehouse(lakebed: CommandLine, here: Path) -> None:
    found = states(lakebed("--json", "doctor").json["result"])
    assert (found["settings"], found["warehouse"]) == (("ok", None), ("warn", "LB7001"))
    result = lakebed("--json", "doctor", "--warehouse", "nowhere")
    assert (result.code, states(result.json["result"])["warehouse"]) == (1, ("fail", "LB3112"))


def test_settings_that_are_wrong(lakebed: CommandLine, here: Path) -> None:
    settings = here / "lakebed.toml"
    settings.write_text('warehuose = "x"\nlayuot = "y"\n')
    result = lakebed("--json", "doctor")
    (check,) = (c for c in result.json["result"]["checks"] if c["name"] == "settings")
    assert (result.code, check["state"], check["code"]) == (1, "fail", "LB7002")
    assert "there is no setting 'warehuose'" in check["found"]
    assert "there is no setting 'layuot'" in check["details"][0]
    settings.write_text('time_zone = "Nowhere/Land"\n[storage]\nsecret = "hunter2secret"\n')
    result = lakebed("--json", "doctor")
    found = states(result.json["result"])
    assert (found["settings"], found["time-zones"]) == (("fail", "LB3116"), ("fail", "LB3116"))
    assert "hunter2secret" not in result.out
