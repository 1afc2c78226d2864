"""Where the warehouse comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.command_line import CommandLine
from lakebed.cli.configuration import Configuration, configuration_text, find_configuration
from lakebed.errors import UsageError


def find(directory: Path, flag: str | None = None, **environment: str) -> Configuration:
    return find_configuration(flag, environment, directory)


def settings(directory: Path, text: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "lakebed.toml").write_text(text, encoding="utf-8")


def test_the_flag_wins_over_the_variable_over_the_file(tmp_path: Path) -> None:
    settings(tmp_path, 'warehouse = "file"\ntime_zone = "Europe/Paris"\n')
    assert find(tmp_path, "flag", LAKEBED_WAREHOUSE="variable").warehouse == "flag"
    assert find(tmp_path, LAKEBED_WAREHOUSE="variable").warehouse == "variable"
    assert find(tmp_path, LAKEBED_WAREHOUSE="").warehouse == str(tmp_path / "file")
    assert find(tmp_path, "flag").time_zone == "Europe/Paris"


def test_the_file_is_found_above_and_its_path_is_relative_to_it(tmp_path: Path) -> None:
    settings(tmp_path, 'warehouse = "../lake"\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find(below).warehouse == str(tmp_path / "../lake")
    settings(tmp_path / "a", 'warehouse = "/elsewhere"\nlayout = "mini"\n')
    assert find(below) == Configuration("/elsewhere", "mini", "UTC")
    settings(below, 'warehouse = "s3://bucket/lake"\n')
    assert find(below).warehouse == "s3://bucket/lake"


def test_the_layout_of_the_files_warehouse_says_nothing_of_another(tmp_path: Path) -> None:
    settings(tmp_path, 'warehouse = "mini"\nlayout = "mini"\n')
    assert find(tmp_path).layout == "mini"
    assert find(tmp_path, "other").layout == "auto"
    settings(tmp_path, 'layout = "mini"\n')
    assert find(tmp_path, "other").layout == "mini"


def test_nothing_names_a_warehouse(tmp_path: Path) -> None:
    for text in ("", 'time_zone = "UTC"\n'):
        settings(tmp_path, text)
        with pytest.raises(UsageError) as error:
            find(tmp_path)
        assert error.value.code == "LB7001"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("warehouse = ", "is not valid TOML"),
        ("warehouse = '\xff'", "is not valid TOML"),
        ('warehose = "x"', "there is no setting 'warehose'"),
        ("layout = 3", "the setting 'layout' must be text, not 3"),
        ('warehouse = ""', "the setting 'warehouse' must be text, not ''"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "lakebed.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as error:
        find(tmp_path)
    assert error.value.code == "LB7002"
    assert said in str(error.value)


def test_all_bad_settings_are_told_at_once_with_near_names(tmp_path: Path) -> None:
    settings(tmp_path, 'warehose = "x"\ntimezone = "UTC"\nlayout = 3\n')
    with pytest.raises(UsageError) as error:
        find(tmp_path)
    assert [d.suggestions for d in error.value.diagnostics] == [("warehouse",), ("time_zone",), ()]


@pytest.mark.parametrize("path", ["a b", 'quo"te', "back\\slash", "tab\t", "line\nbreak", "del\x7f", "é€😀", "#x"])
def test_every_path_can_be_written_into_the_file(tmp_path: Path, path: str) -> None:
    text = configuration_text(path)
    assert text is not None
    settings(tmp_path, text)
    assert find(tmp_path).warehouse == str(tmp_path / path)
    assert configuration_text("not text \udcff") is None


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_the_flag_stands_on_both_sides_of_the_command(lakebed: CommandLine, here: Path, before: bool) -> None:
    (here / "w" / "db.db").mkdir(parents=True)
    words = ["--warehouse", "w", "tables"] if before else ["tables", "--warehouse", "w"]
    assert lakebed(*words, "--json").json["result"]["tables"] == []
    missing = ["nowhere" if w == "w" else w for w in words]
    assert lakebed(*missing).code == 1


def test_the_variable_and_the_file_reach_the_commands(
    lakebed: CommandLine, orders: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = here / "deep" / "down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert lakebed.ok("tables", "--names") == "shop.orders\n"
    monkeypatch.setenv("LAKEBED_WAREHOUSE", str(below))
    result = lakebed("tables")
    assert (result.code, result.out, result.err) == (0, "", "There are no tables.\n")


@pytest.mark.parametrize(
    ("text", "code"), [('layout = "delta"', 2), ('time_zone = "Mars/Olympus"', 2)], ids=["layout", "time zone"]
)
def test_settings_are_checked(lakebed: CommandLine, here: Path, warehouse: Path, text: str, code: int) -> None:
    settings(here, f'warehouse = "warehouse"\n{text}\n')
    result = lakebed("tables")
    assert (result.code, result.out) == (code, "")
    assert text.split('"')[1] in result.err


PROFILES = """\
warehouse = "lake"
layout = "paimon"
time_zone = "Asia/Tokyo"

[storage]
account_key = "geheimes"
endpoint = "http://me:word@host/x"

[storage.client]
retries = 3
secret = "geheimes"

[env.prod]
warehouse = "s3://bucket/lake"

[env.test]
time_zone = "Europe/Paris"
verify_checksums = false
"""


class TestProfiles:
    def test_a_profile_comes_before_the_file_and_after_the_environment(self, tmp_path: Path) -> None:
        settings(tmp_path, PROFILES)
        found = find_configuration(None, {}, tmp_path, env="test")
        assert (found.warehouse, found.layout, found.time_zone) == (str(tmp_path / "lake"), "paimon", "Europe/Paris")
        assert (found.verify_checksums, found.storage["client"]) == (False, {"retries": 3, "secret": "geheimes"})
        given = {"LAKEBED_ENV": "test", "LAKEBED_TIME_ZONE": "UTC", "LAKEBED_WAREHOUSE": "variable"}
        found = find_configuration(None, given, tmp_path)
        assert (found.warehouse, found.layout, found.time_zone) == ("variable", "auto", "UTC")
        assert find_configuration("flag", given, tmp_path, env="prod").warehouse == "flag"

    def test_how_the_files_warehouse_is_reached_says_nothing_of_that_of_a_profile(self, tmp_path: Path) -> None:
        settings(tmp_path, PROFILES)
        found = find_configuration(None, {}, tmp_path, env="prod")
        assert found == Configuration("s3://bucket/lake", "auto", "Asia/Tokyo")
        assert found.storage == {}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[env.a]\nwarehose = 'x'\n", "there is no setting 'env.a.warehose' (did you mean 'warehouse'?)"),
            ("[env.a.env.b]\n", "there is no setting 'env.a.env'"),
            ("[env]\na = 3\n", "the profile env.a must be a table [env.a], not 3"),
            ("env = 'prod'\n", "the setting 'env' must be a table [env], not 'prod'"),
            ("[env.a]\nlayout = 3\n", "the setting 'env.a.layout' must be text, not 3"),
        ],
    )
    def test_a_profile_that_cannot_be_used(self, tmp_path: Path, text: str, said: str) -> None:
        settings(tmp_path, text)
        with pytest.raises(UsageError, match="LB7002") as error:
            find(tmp_path)
        assert said in str(error.value)

    def test_one_that_is_not_there(self, lakebed: CommandLine, here: Path) -> None:
        result = lakebed("--env", "prd", "tables")
        assert (result.codes_of_text, "there is no lakebed.toml" in result.err) == (["LB7063"], True)
        settings(here, PROFILES)
        assert "(did you mean 'prod'?)" in lakebed("tables", "--env", "prd").err

    def test_a_command_works_in_the_warehouse_of_a_profile(self, lakebed: CommandLine, here: Path) -> None:
        settings(here, 'warehouse = "a"\n[env.other]\nwarehouse = "b"\n')
        assert lakebed.ok("init", "--env", "other").startswith(f"Warehouse {here / 'b'} is ready.")
        assert lakebed("tables", "--env", "other").code == 0
        assert lakebed("tables").code != 0


class TestConfigShow:
    def test_every_setting_says_where_it_is_from(
        self, lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings(here, PROFILES)
        monkeypatch.setenv("LAKEBED_LAYOUT", "mini")
        file = here / "lakebed.toml"
        assert [line.split(maxsplit=2) for line in lakebed.ok("config", "show", "--env", "test").splitlines()] == [
            ["warehouse", str(here / "lake"), str(file)],
            ["layout", "mini", "LAKEBED_LAYOUT"],
            ["time_zone", "Europe/Paris", f"{file} [env.test]"],
            ["attributes", "-", "default"],
            ["storage.account_key", "***", str(file)],
            ["storage.endpoint", "http://***@host/x", str(file)],
            ["storage.client.retries", "3", str(file)],
            ["storage.client.secret", "***", str(file)],
            ["allow_overwrite_races", "false", "default"],
            ["verify_checksums", "false", f"{file} [env.test]"],
            ["record_origin", "true", "default"],
            ["lineage", "false", "default"],
            ["drift", "ask", "default"],
            ["database_prefix", "-", "default"],
            ["engines", "-", "default"],
        ]
        found = lakebed.json("--warehouse", "x", "config", "show")
        assert found["warehouse"] == {"value": "x", "origin": "--warehouse"}
        assert found["verify_checksums"] == {"value": True, "origin": "default"}

    def test_without_a_file(self, lakebed: CommandLine) -> None:
        assert {line.split()[-1] for line in lakebed.ok("config", "show").splitlines()} == {"default"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[lint]\nLB9999 = "error"\n', "there is no setting 'lint.LB9999'"),
        ('engines = ["sparc"]\n', "there is no engine 'sparc' (did you mean 'spark'?)"),
        ('time_zone = "Europe/Pariss"\n', "lakebed.toml: 'Europe/Pariss' is no time zone"),
        ('layout = "delta"\n', "lakebed.toml: "),
        ('attributes = "nope.yaml"\n', "begins at the directory of that file"),
        ('attributes = "lakebed.toml"\n', "lakebed.toml:1:"),
    ],
)
def test_what_cannot_be_used_is_shown_and_told(lakebed: CommandLine, here: Path, text: str, said: str) -> None:
    settings(here, text)
    result = lakebed("config", "show")
    assert (result.code, len(result.codes_of_text)) == (2, 1)
    assert said in result.err
    assert text.split('"')[-2].split("/")[-1] in result.out
    assert lakebed("--json", "config", "show").json["result"]


def test_a_setting_that_names_no_file_is_told_by_every_command(lakebed: CommandLine, here: Path) -> None:
    settings(here, 'warehouse = "lake"\nattributes = "nope.yaml"\n')
    (here / "lake").mkdir()
    for words in ("validate a.yaml", "schema", "tables"):
        result = lakebed(*words.split())
        assert f"Correct `attributes` in {here / 'lakebed.toml'}" in result.err
