"""One set of manifests for several environments: variables, databases and settings of Spark by profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.command_line import CommandLine
from cli.git_repository import commit_all
from lakebed.errors import UsageError
from lakebed.spark import session

SETTINGS = """\
warehouse = "warehouse"

[variables]
owner = "nobody"
buckets = 2

[databases]
hr = "people"

[spark]
spark.sql.shuffle.partitions = 8

[env.dev]
database_prefix = "dev_"

[env.prod.variables]
owner = "orders-team"

[env.prod.databases]
shop = "shop_prod"

[env.prod.spark]
"spark.sql.ansi.enabled" = false
"spark.hadoop.fs.s3a.secret.key" = "geheimes"
"""
MANIFEST = """\
kind: Table
version: 1
content:
  name: shop.orders
  description: Orders, of ${owner}
  options:
    bucket: ${buckets}
    bucket-key: id
  schema:
    fields:
      - name: id
        type: Int32
"""


@pytest.fixture
def project(lakebed: CommandLine, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one manifest, and its warehouse."""
    monkeypatch.delenv("LAKEBED_VAR_owner", raising=False)
    assert lakebed("init", "warehouse").code == 0
    (here / "lakebed.toml").write_text(SETTINGS, encoding="utf-8")
    (here / "orders.yaml").write_text(MANIFEST, encoding="utf-8")
    return here


def test_a_flag_comes_before_the_environment_the_profile_and_the_file(
    lakebed: CommandLine, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def owner(*words: str) -> dict[str, Any]:
        return dict(lakebed.json("config", "show", *words)["variables.owner"])

    file = str(project / "lakebed.toml")
    assert owner() == {"value": "nobody", "origin": file}
    assert owner("--env", "prod") == {"value": "orders-team", "origin": f"{file} [env.prod]"}
    monkeypatch.setenv("LAKEBED_VAR_owner", "me")
    assert owner("--env", "prod") == {"value": "me", "origin": "LAKEBED_VAR_owner"}
    assert owner("--env", "prod", "--var", "owner=a=b") == {"value": "a=b", "origin": "--var"}
    shown = lakebed.json("config", "show", "--env", "prod")
    assert {name: shown[name]["value"] for name in shown if name.startswith(("variables.b", "databases", "spark"))} == {
        "variables.buckets": "2",
        "databases.hr": "people",
        "databases.shop": "shop_prod",
        "spark.spark.sql.shuffle.partitions": "8",
        "spark.spark.sql.ansi.enabled": "false",
        "spark.spark.hadoop.fs.s3a.secret.key": "***",
    }


def test_the_same_manifest_makes_a_table_in_each_environment(lakebed: CommandLine, project: Path) -> None:
    for words in ((), ("--env", "dev"), ("--env", "prod", "--var", "owner=me")):
        assert lakebed("apply", "orders.yaml", "--yes", *words).code == 0
    assert lakebed.ok("tables", "--names").split() == ["dev_shop.orders", "shop.orders", "shop_prod.orders"]
    assert "Orders, of nobody" in lakebed.ok("show", "dev_shop.orders")
    assert "Orders, of me" in lakebed.ok("show", "shop_prod.orders")
    assert lakebed("plan", ".", "--env", "dev", "--exit-code").code == 0
    # What is declared elsewhere is not told as undeclared here.
    assert lakebed.json("plan", "--all", "--env", "dev")["undeclared"] == ["shop.orders", "shop_prod.orders"]


def test_the_next_command_gives_the_values_again(lakebed: CommandLine, project: Path) -> None:
    result = lakebed("plan", "orders.yaml", "--env", "prod", "--var", "owner=you and me")
    assert "lakebed apply --env prod --var 'owner=you and me' orders.yaml" in result.out


def test_a_variable_without_a_value_is_told_by_every_command_that_reads_manifests(
    lakebed: CommandLine, project: Path
) -> None:
    (project / "orders.yaml").write_text(MANIFEST.replace("${owner}", "${ownr}"), encoding="utf-8")
    for words in ("validate", "lint", "plan orders.yaml", "apply orders.yaml --yes", "drift", "diff . shop.orders"):
        result = lakebed(*words.split())
        assert (result.code != 0, result.codes_of_text) == (True, ["LB1031"]), words
        assert "orders.yaml:5:27: error[LB1031]: the variable ownr has no value (did you mean 'owner'?)" in result.err
        assert f"{'^' * len('${ownr}')}\n" in result.err
        assert lakebed(*words.split()[:1], "--var", "x", ".").code == 2
    assert lakebed("validate", "--var", "ownr=x").code == 0
    assert lakebed("fmt", "--check").code == 0


def test_what_others_did_is_pulled_and_variables_stay(lakebed: CommandLine, project: Path) -> None:
    import lakebed as library

    assert lakebed("apply", "orders.yaml", "--yes", "--env", "dev").code == 0
    change = {"action": "addColumn", "fieldNames": ["note"], "dataType": "STRING"}
    library.open("warehouse").tables.alter_table("dev_shop", "orders", [change])
    assert lakebed("pull", "--env", "dev").code == 0
    text = (project / "orders.yaml").read_text(encoding="utf-8")
    assert text.startswith(MANIFEST)
    assert "note" in text.removeprefix(MANIFEST)
    assert lakebed("plan", "orders.yaml", "--env", "dev", "--exit-code").code == 0
    assert lakebed.ok("infer", "dev_shop.orders", "--update", "orders.yaml", "--env", "dev").startswith("orders.yaml")
    assert (project / "orders.yaml").read_text(encoding="utf-8") == text


def test_fixes_leave_variables_and_the_file_is_read_again_with_their_values(
    lakebed: CommandLine, project: Path
) -> None:
    (project / "orders.yaml").write_text(MANIFEST.replace(": id\n", ": email\n"), encoding="utf-8")
    result = lakebed("lint", "--fix")
    assert ("mended orders.yaml" in result.out, result.codes_of_text) == (True, [])
    text = (project / "orders.yaml").read_text(encoding="utf-8")
    assert ("personalData" in text, "${owner}" in text, "${buckets}" in text) == (True, True, True)


def test_a_commit_is_read_with_the_values_of_now(lakebed: CommandLine, project: Path) -> None:
    commit_all()
    (project / "lakebed.toml").write_text(SETTINGS.replace("nobody", "someone"), encoding="utf-8")
    assert lakebed.json("check", "--against", "git:HEAD")["tables"][0]["changes"] == []
    assert lakebed("diff", "git:HEAD:orders.yaml", "orders.yaml", "--exit-code").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[variables]\n1a = 'x'\n", "in variables, '1a' is no name of a variable"),
        ("[variables.a]\nb = 1\n", "in variables, 'a.b' is no name of a variable"),
        ("[env.x.variables]\na = [1]\n", "in env.x.variables, 'a' must be text, a number, true or false, not [1]"),
        ("[databases]\na = 3\n", "in databases, 'a' must be the name of a database, not 3"),
        ("[env.x.spark]\n'spark.x' = [1]\n", "in env.x.spark, 'spark.x' must be text, a number"),
        ("[spark]\n'spark.master' = 'yarn'\n", "'spark.master' cannot stand: it is given by --cores, or --remote"),
        ("[spark]\nspark.sql.session.timeZone = 'UTC'\n", "it is given by `time_zone`"),
        ("variables = 3\n", "the setting 'variables' must be a table [variables], not 3"),
    ],
)
def test_settings_that_cannot_be_used(lakebed: CommandLine, here: Path, text: str, said: str) -> None:
    (here / "lakebed.toml").write_text(text, encoding="utf-8")
    result = lakebed("config", "show")
    assert (result.code, result.codes_of_text) == (2, ["LB7002"])
    assert said in result.err


def test_spark_is_started_with_the_settings_of_the_profile(
    lakebed: CommandLine, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def start(*_: Any, **options: Any) -> None:
        seen.append(options["config"])
        raise UsageError.of("LB6451", "no session here")

    monkeypatch.setattr(session, "local_session", start)
    monkeypatch.setattr(session, "remote_session", start)
    assert lakebed("apply", "orders.yaml", "--yes").code == 0
    for words in ((), ("--env", "prod"), ("--env", "prod", "--remote", "sc://host:1")):
        assert lakebed("read", "shop.orders", "--engine", "spark", *words).codes_of_text == ["LB6451"]
    common = {"spark.sql.shuffle.partitions": "8"}
    of_prod = {"spark.sql.ansi.enabled": "false", "spark.hadoop.fs.s3a.secret.key": "geheimes"}
    assert seen == [common, of_prod | common, of_prod | common]


def test_a_setting_of_a_server_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.errors import AnalysisException

    class Conf:
        def set(self, name: str, value: str) -> None:
            if "executor" in name:
                raise AnalysisException(message="CANNOT_MODIFY_CONFIG")

    class Opened:
        conf = Conf()

    session._configure(Opened(), {"spark.sql.ansi.enabled": "true"})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="LB6452") as error:
        session._configure(Opened(), {"spark.executor.memory": "8g"})  # type: ignore[arg-type]
    assert error.value.diagnostics[0].found == "spark.executor.memory"
