"""The recipes for CI: their steps run as shell in a repository with a warehouse, and a stand-in for the forge."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import lakebed as package
from cli.command_line import CommandLine, environment
from cli.git_repository import commit_all, put
from lakebed.cli.recipe_files import RECIPES

REPOSITORY = Path(__file__).resolve().parents[2]
HOME = REPOSITORY / "src" / "lakebed" / "cli" / "recipes"
ACTION = YAML(typ="safe").load(HOME / "github" / "action.yml")
WORKFLOW = YAML(typ="safe").load(HOME / "github" / "workflow.yml")
GITLAB = YAML(typ="safe").load(HOME / "gitlab" / "lakebed.gitlab-ci.yml")
HOOKS = YAML(typ="safe").load(REPOSITORY / ".pre-commit-hooks.yaml")
MANIFEST = """\
kind: Table
version: 1
content:
  name: shop.orders
  description: Orders of the shop
  schema:
    fields:
      - {name: id, type: Int32}
      - {name: note, type: {kind: Option, inner: String}}
"""
WIDER = MANIFEST.replace("Int32", "Int64")
BREAKING = MANIFEST.replace("      - {name: note, type: {kind: Option, inner: String}}\n", "")

#: Stands for `gh` and `curl`: writes down how it is called, and answers by the routes of `forge.json`, the first whose
#: name is in the call. An answer is a text, or what `--jq` is asked of with the text that it should give.
FORGE = """\
import json, os, shutil, subprocess, sys
from pathlib import Path

here = Path(os.environ["FORGE"])
words = sys.argv[1:]
for word in words:
    name = word.rpartition("@")[2]
    if "@" in word and os.path.isfile(name):
        (here / "body.md").write_text(Path(name).read_text())
    if word == "--body-file":
        (here / "body.md").write_text(Path(words[words.index(word) + 1]).read_text())
with open(here / "calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
routes = json.loads((here / "forge.json").read_text())
call = " ".join(words)
answer = next((answer for route, answer in routes.items() if route in call), "")
if isinstance(answer, dict) and "fails" in answer:
    sys.exit(answer["fails"])
if isinstance(answer, dict) and "copy" in answer:
    into = "--dir" if "--dir" in words else "--output"
    target = Path(words[words.index(into) + 1])
    target = target / "plan.json" if into == "--dir" else target
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(answer["copy"], target)
elif isinstance(answer, dict):
    query, said = words[words.index("--jq") + 1], answer["is"]
    if shutil.which("jq"):
        given = json.dumps(answer["of"])
        asked = subprocess.run(["jq", "-r", query], input=given, capture_output=True, text=True, check=True)
        assert asked.stdout.strip() == said, asked.stdout
    print(said)
else:
    print(answer)
"""


@dataclass
class Forge:
    """A repository, its warehouse, and the stand-in for the forge that it is pushed to."""

    root: Path
    variables: dict[str, str]
    inputs: dict[str, str] = field(default_factory=dict)

    def answers(self, routes: dict[str, Any]) -> None:
        """What the forge says from now on; the calls so far are forgotten."""
        (self.root / "forge" / "forge.json").write_text(json.dumps(routes))
        (self.root / "forge" / "calls").unlink(missing_ok=True)

    @property
    def calls(self) -> list[str]:
        file = self.root / "forge" / "calls"
        return [" ".join(json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def body(self) -> str:
        """The text that was sent last."""
        return (self.root / "forge" / "body.md").read_text()

    def run(self, script: str, variables: dict[str, str], directory: Path) -> tuple[int, str]:
        """Exit code and output of a script, run as GitHub and GitLab run it."""
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
            cwd=directory,
            env=self.variables | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def step(self, name: str, **event: str) -> tuple[int, str]:
        """A step of GitHub's action, by its name."""
        step = next(step for step in ACTION["runs"]["steps"] if step.get("name") == name)
        variables = {key: self.evaluated(value, event) for key, value in step["env"].items()}
        return self.run(step["run"], variables, self.root / self.evaluated(step.get("working-directory", ""), event))

    def evaluated(self, text: str, event: dict[str, str]) -> str:
        """A text with the values of the expressions that the action uses; one that is not known here is an error."""
        inputs = {key: value.get("default", "") for key, value in ACTION["inputs"].items()} | self.inputs

        def value(found: re.Match[str]) -> str:
            expression = found[1]
            formatted = re.fullmatch(r"inputs\.environment && format\('([^']*)', inputs\.environment\)", expression)
            if formatted:
                chosen = inputs["environment"]
                return formatted[1].replace("{0}", chosen) if chosen else ""
            if expression.startswith("inputs."):
                return self.evaluated(inputs[expression.removeprefix("inputs.")], event)
            return {
                "github.event.pull_request.number": event.get("pull_request", ""),
                "github.token": "t",
                "runner.temp": str(self.root / "temp"),
            }[expression]

        return re.sub(r"\$\{\{ (.*?) \}\}", value, text)

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.root / "temp" / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def schema(self) -> int:
        """The newest version of the table."""
        return package.open(self.root / "warehouse").schema("shop.orders").id


@pytest.fixture
def forge(lakebed: CommandLine, here: Path) -> Forge:
    """A repository whose `main` is applied."""
    for directory in ("forge", "bin", "temp", "project/tables"):
        (here / directory).mkdir(parents=True)
    (here / "forge" / "forge.json").write_text("{}")
    (here / "forge" / "forge.py").write_text(FORGE)
    python = shlex.quote(sys.executable)
    for name, call in {
        "lakebed": f"{python} -m lakebed",
        "gh": f"{python} {here}/forge/forge.py",
        "curl": f"{python} {here}/forge/forge.py",
        "python": python,
    }.items():
        program = here / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {call} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    os.chdir(here / "project")
    put("lakebed.toml", 'warehouse = "../warehouse"\n')
    put("tables/orders.yaml", MANIFEST)
    lakebed.ok("init")
    lakebed.ok("apply", "tables", "--yes")
    commit_all("orders")
    variables = environment(
        PATH=f"{here}/bin:{os.environ['PATH']}",
        FORGE=f"{here}/forge",
        RUNNER_TEMP=f"{here}/temp",
        GITHUB_OUTPUT=f"{here}/temp/output",
        GITHUB_STEP_SUMMARY=f"{here}/temp/summary",
        GITHUB_REPOSITORY="o/r",
        GITHUB_SHA="m" * 40,
    )
    return Forge(here, variables, {"directory": "project", "manifests": "tables", "against": "main"})


#: The pull requests of a commit: one that is open and has it too, and the one that brought it.
MERGED = [{"merged_at": None, "head": {"sha": "o"}}, {"merged_at": "2026-01-01T00:00:00Z", "head": {"sha": "h" * 40}}]


def with_fork(*, run: int, head: str) -> dict[str, Any]:
    """The artifacts of a repository, among them one that a fork has made of the same commit, and one that is gone."""

    def artifact(number: int, repository: int, *, expired: bool = False, sha: str = head) -> dict[str, Any]:
        ids = {"id": number, "repository_id": 1, "head_repository_id": repository, "head_sha": sha}
        return {"expired": expired, "created_at": f"2026-01-0{number}", "workflow_run": ids}

    of_others = [artifact(6, 2), artifact(7, 1, expired=True), artifact(8, 1, sha="other")]
    return {"of": {"artifacts": [*of_others, artifact(run - 1, 1), artifact(run, 1)]}, "is": str(run)}


class TestGithub:
    def test_from_a_pull_request_to_the_table(self, forge: Forge) -> None:
        put("tables/orders.yaml", WIDER)
        code, said = forge.step("Check manifests")
        assert code == 0, said
        forge.answers({"comments --jq": {"of": [{"id": 5, "body": "of somebody"}], "is": ""}})
        code, said = forge.step("Plan changes", pull_request="7")
        assert (code, forge.outputs["exit-code"]) == (0, "10"), said
        assert [call for call in forge.calls if "--field" in call] == [
            f"api --silent repos/o/r/issues/7/comments --field body=@{forge.root}/temp/lakebed-plan.md"
        ]
        assert "shop.orders" in forge.body
        assert forge.body == (forge.root / "temp" / "summary").read_text()
        upload = next(s for s in ACTION["runs"]["steps"] if s.get("name") == "Save the plan")
        plan = Path(forge.evaluated(upload["with"]["path"], {}))
        assert forge.evaluated(upload["with"]["name"], {}) == "lakebed-plan"

        # The next push: the comment of before is written over.
        first = forge.body.splitlines()[0]
        forge.answers(
            {"comments --jq": {"of": [{"id": 4, "body": "x"}, {"id": 8, "body": f"{first}\nold"}], "is": "8"}}
        )
        code, said = forge.step("Plan changes", pull_request="7")
        assert code == 0, said
        assert "--method PATCH repos/o/r/issues/comments/8" in forge.calls[-1]

        # Merged.
        routes = {
            f"commits/{'m' * 40}/pulls": {"of": MERGED, "is": "h" * 40},
            "actions/artifacts?name=lakebed-plan&": with_fork(run=4, head="h" * 40),
            "run download 4": {"copy": str(plan)},
        }
        forge.answers(routes)
        assert forge.schema() == 0
        code, said = forge.step("Apply the plan that was reviewed")
        assert code == 0, said
        assert forge.schema() == 1
        code, said = forge.step("Apply the plan that was reviewed")
        assert (code, said.splitlines()[-1]) == (0, "Nothing to apply.")

    def test_what_breaks_stops_and_is_told(self, forge: Forge) -> None:
        put("tables/orders.yaml", BREAKING)
        code, said = forge.step("Check manifests")
        assert code == 11
        assert "::error file=tables/orders.yaml,line=4,col=9,title=LB4203 breaking::" in said
        forge.answers({"comments": {"fails": 1}})
        code, said = forge.step("Plan changes", pull_request="7")
        assert (code, forge.outputs["exit-code"]) == (11, "11"), said
        assert "::warning::the plan cannot be written as a comment" in said
        assert "LB4203" in (forge.root / "temp" / "summary").read_text()

    def test_every_fault_is_told_before_a_check_fails(self, forge: Forge) -> None:
        put("tables/faulty.yaml", MANIFEST.replace("Int32", "Integer").replace("shop.orders", "shop.x"))
        put("tables/unformatted.yaml", MANIFEST.replace("shop.orders", "'shop.y'"))
        code, said = forge.step("Check manifests")
        assert code == 1
        assert "title=LB1050::" in said
        assert "unformatted.yaml" in said

    def test_only_what_was_reviewed_is_applied(self, forge: Forge) -> None:
        put("tables/orders.yaml", WIDER)
        pulls = f"commits/{'m' * 40}/pulls"
        forge.answers({pulls: {"of": [], "is": ""}})
        code, said = forge.step("Apply the plan that was reviewed")
        assert (code, "::error::no plan was reviewed" in said, forge.schema()) == (1, True, 0)
        forks = {"artifacts": with_fork(run=4, head="h" * 40)["of"]["artifacts"][:3]}
        forge.answers({pulls: {"of": MERGED, "is": "h" * 40}, "actions/artifacts": {"of": forks, "is": ""}})
        code, said = forge.step("Apply the plan that was reviewed")
        assert (code, "::error::no plan was reviewed" in said, forge.schema()) == (1, True, 0)

    def test_a_plan_that_is_stale_is_refused(self, lakebed: CommandLine, forge: Forge) -> None:
        put("tables/orders.yaml", WIDER)
        lakebed.ok("plan", "tables", "--out", "../reviewed.json")
        change = {"action": "setOption", "key": "x", "value": "1"}
        package.open(forge.root / "warehouse").tables.alter_table("shop", "orders", [change])
        forge.answers(
            {
                f"commits/{'m' * 40}/pulls": {"of": MERGED, "is": "h" * 40},
                "actions/artifacts": with_fork(run=4, head="h" * 40),
                "run download 4": {"copy": str(forge.root / "reviewed.json")},
            }
        )
        code, said = forge.step("Apply the plan that was reviewed")
        assert (code, forge.schema()) == (12, 1), said

    def test_drift_becomes_an_issue_and_is_closed_when_it_is_gone(self, forge: Forge) -> None:
        none = {"issue list": {"of": [{"number": 3, "title": "another"}], "is": ""}}
        forge.answers(none)
        code, said = forge.step("Look for drift")
        assert (code, forge.outputs["exit-code"], len(forge.calls)) == (0, "0", 1), said
        tables = package.open(forge.root / "warehouse").tables
        tables.alter_table("shop", "orders", [{"action": "dropColumn", "fieldNames": ["note"]}])
        forge.answers(none)
        code, said = forge.step("Look for drift")
        assert code in (10, 13), said
        title = "Tables are not as their manifests declare them"
        assert forge.calls[-1].startswith(f"issue create --repo o/r --title {title} --body-file")
        assert "note" in forge.body
        forge.answers({"issue list": {"of": [{"number": 9, "title": title}], "is": "9"}})
        assert forge.step("Look for drift")[0] == code
        assert forge.calls[-1].startswith("issue edit 9")
        tables.alter_table("shop", "orders", [{"action": "addColumn", "fieldNames": ["note"], "dataType": "STRING"}])
        tables.create_table("shop", "others", [package.Field("id", package.DataType.INT)])
        forge.answers({"issue list": {"of": [{"number": 9, "title": title}], "is": "9"}})
        assert forge.step("Look for drift")[0] == 0
        assert forge.calls[-1].startswith("issue close 9")
        forge.inputs["all"] = "true"
        assert forge.step("Look for drift")[0] == 13
        assert "shop.others" in forge.body

    def test_what_pip_installs(self, forge: Forge) -> None:
        (forge.root / "bin" / "python").write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
        forge.inputs["package"] = "lakebed[fsspec]==0.1.0 s3fs"
        assert forge.step("Install Lakebed")[1].endswith("<lakebed[fsspec]==0.1.0><s3fs>")
        script = "\n".join(GITLAB[".lakebed"]["before_script"])
        variables = {"LAKEBED_PACKAGE": "lakebed[fsspec]==0.1.0 s3fs", "LAKEBED_DIRECTORY": "project"}
        assert forge.run(script, variables, forge.root)[1].endswith("<lakebed[fsspec]==0.1.0><s3fs>")

    def test_no_expression_is_put_into_a_script(self) -> None:
        """What a pull request says, such as the name of its branch, would be run."""
        steps = ACTION["runs"]["steps"]
        assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []
        assert all(step["shell"] == "bash" for step in steps if "run" in step)

    def test_the_workflow_gives_the_action_what_it_takes(self) -> None:
        used = [step for job in WORKFLOW["jobs"].values() for step in job["steps"] if "lakebed" in step["uses"]]
        assert [step["with"]["step"] for step in used] == ["check", "plan", "apply", "drift"] == list(WORKFLOW["jobs"])
        for step in used:
            assert set(step["with"]) <= set(ACTION["inputs"])
            assert step["uses"] == f"./{Path(RECIPES['github']['github/action.yml']).parent}"
        steps = {step["if"].rpartition("'")[0].rpartition("'")[2] for step in ACTION["runs"]["steps"][2:]}
        assert steps == set(WORKFLOW["jobs"])


class TestGitlab:
    @pytest.fixture
    def gitlab(self, forge: Forge) -> Forge:
        forge.variables |= {
            "CI_PROJECT_DIR": str(forge.root / "project"),
            "CI_API_V4_URL": "https://gitlab.example/api/v4",
            "CI_PROJECT_ID": "17",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": "main",
            "CI_COMMIT_SHA": "m" * 40,
            "LAKEBED_GITLAB_TOKEN": "secret",
            "LAKEBED_DIRECTORY": "project",
            "LAKEBED_MANIFESTS": "tables",
            "LAKEBED_PACKAGE": "-",
            "LAKEBED_PLAN_OPTIONS": "",
        }
        return forge

    def job(self, gitlab: Forge, name: str) -> tuple[int, str]:
        job = GITLAB[name]
        assert job["extends"] == ".lakebed"
        script = "\n".join([*GITLAB[".lakebed"]["before_script"], *job["script"]])
        return gitlab.run(script, {}, gitlab.root)

    def test_from_a_merge_request_to_the_table(self, gitlab: Forge) -> None:
        put("tables/orders.yaml", WIDER)
        gitlab.answers({"notes?per_page": json.dumps([{"id": 5, "body": "of somebody"}])})
        code, said = self.job(gitlab, "lakebed-plan")
        assert code == 0, said
        notes = "https://gitlab.example/api/v4/projects/17/merge_requests/7/notes"
        assert "--request POST" in gitlab.calls[-1]
        assert gitlab.calls[-1].endswith(f"--data-urlencode body@{gitlab.root}/project/plan.md {notes}")
        assert "shop.orders" in gitlab.body
        for report in GITLAB["lakebed-plan"]["artifacts"]["reports"].values():
            assert json.loads(Path(report).read_text()) is not None

        first = gitlab.body.splitlines()[0]
        gitlab.answers({"notes?per_page": json.dumps([{"id": 4, "body": "x"}, {"id": 8, "body": f"{first}\nold"}])})
        assert self.job(gitlab, "lakebed-plan")[0] == 0
        assert "--request PUT" in gitlab.calls[-1]
        assert gitlab.calls[-1].endswith(f"{notes}/8")

        requests = [{"iid": 6, "state": "closed"}, {"iid": 7, "state": "merged"}]
        pipelines = [{"id": 99, "project_id": 18}, {"id": 30, "project_id": 17}]
        jobs = [{"id": 1, "name": "lakebed-check"}, {"id": 2, "name": "lakebed-plan"}]
        gitlab.answers(
            {
                f"commits/{'m' * 40}/merge_requests": json.dumps(requests),
                "merge_requests/7/pipelines": json.dumps(pipelines),
                "pipelines/30/jobs": json.dumps(jobs),
                "jobs/2/artifacts/plan.json": {"copy": str(gitlab.root / "project" / "plan.json")},
            }
        )
        code, said = self.job(gitlab, "lakebed-apply")
        assert (code, gitlab.schema()) == (0, 1), said
        assert self.job(gitlab, "lakebed-apply")[1].splitlines()[-1] == "Nothing to apply."

    def test_what_breaks_stops_and_only_what_was_reviewed_is_applied(self, gitlab: Forge) -> None:
        put("tables/orders.yaml", BREAKING)
        assert self.job(gitlab, "lakebed-check")[0] == 11
        gitlab.answers({"notes": {"fails": 22}})
        code, said = self.job(gitlab, "lakebed-plan")
        assert (code, "cannot be written as a note" in said) == (11, True)
        gitlab.answers({"merge_requests": "[]"})
        code, said = self.job(gitlab, "lakebed-apply")
        assert (code, "no plan was reviewed" in said, gitlab.schema()) == (1, True, 0)
        assert self.job(gitlab, "lakebed-drift")[0] == 11


class TestHooks:
    """Each hook is called with the files of a commit, as pre-commit calls it."""

    def hook(self, lakebed: CommandLine, name: str, *files: str) -> int:
        (hook,) = (hook for hook in HOOKS if hook["id"] == name)
        program, *words = shlex.split(hook["entry"])
        assert (program, hook["language"], hook["types"]) == ("lakebed", "python", ["yaml"])
        return lakebed(*words, *files).code

    def test_a_commit_that_is_good(self, lakebed: CommandLine, forge: Forge) -> None:
        for hook in HOOKS:
            assert self.hook(lakebed, hook["id"], "tables/orders.yaml") == 0
        assert subprocess.run(["git", "diff", "--quiet"], check=False).returncode == 0

    def test_one_that_is_not(self, lakebed: CommandLine, forge: Forge) -> None:
        put("tables/orders.yaml", BREAKING.replace("shop.orders", "'shop.orders'"))
        assert self.hook(lakebed, "lakebed-check", "tables/orders.yaml") == 11
        assert self.hook(lakebed, "lakebed-fmt", "tables/orders.yaml") == 0
        # pre-commit stops a commit whose files a hook has changed.
        assert Path("tables/orders.yaml").read_text() == BREAKING
        put("tables/orders.yaml", MANIFEST.replace("Int32", "Integer"))
        assert self.hook(lakebed, "lakebed-validate", "tables/orders.yaml") == 1
        assert self.hook(lakebed, "lakebed-lint", "tables/orders.yaml") == 1


class TestInit:
    def test_a_recipe_for_github(self, lakebed: CommandLine, forge: Forge) -> None:
        result = lakebed.json("init", "--ci", "github")["recipe"]
        assert result == {
            "root": f"{forge.root}/project",
            "written": [".github/actions/lakebed/action.yml", ".github/workflows/lakebed.yml"],
            "kept": [],
        }
        assert Path(".github/actions/lakebed/action.yml").read_bytes() == (HOME / "github" / "action.yml").read_bytes()
        assert Path(".github/workflows/lakebed.yml").read_bytes() == (HOME / "github" / "workflow.yml").read_bytes()
        assert lakebed.ok("init", "--ci", "github").endswith("The recipe for CI is there already.\n")
        put(".github/workflows/lakebed.yml", "mine")
        assert lakebed.json("init", "--ci", "github")["recipe"]["kept"] == [".github/workflows/lakebed.yml"]
        assert Path(".github/workflows/lakebed.yml").read_text() == "mine"

    def test_a_project_below_the_root(self, lakebed: CommandLine, here: Path) -> None:
        put("lake/lakebed.toml", 'warehouse = "warehouse"\n')
        commit_all()
        os.chdir("lake")
        assert "`lakebed init --ci github|gitlab` adds a recipe" in lakebed("init").err
        lakebed.ok("init", "--ci", "gitlab")
        assert lakebed("init").err == ""
        recipe = YAML(typ="safe").load(here / ".gitlab" / "lakebed.gitlab-ci.yml")
        assert recipe["variables"]["LAKEBED_DIRECTORY"] == "lake"
        assert recipe | {"variables": GITLAB["variables"]} == GITLAB
        assert YAML(typ="safe").load(here / ".gitlab-ci.yml") == {
            "include": [{"local": ".gitlab/lakebed.gitlab-ci.yml"}],
        }

    def test_a_pipeline_that_is_there_is_kept(self, lakebed: CommandLine, here: Path) -> None:
        put(".gitlab-ci.yml", "stages: [test]\n")
        said = lakebed.ok("init", "lake", "--ci", "gitlab")
        assert said.endswith(
            f"For CI there is .gitlab/lakebed.gitlab-ci.yml in {here}. .gitlab-ci.yml was there and was left as it is: "
            "include .gitlab/lakebed.gitlab-ci.yml in it.\n"
        )
        assert Path(".gitlab-ci.yml").read_text() == "stages: [test]\n"


def test_the_recipes_are_those_of_the_repository() -> None:
    """`ci/` is the directory that is installed."""
    assert (REPOSITORY / "ci").resolve() == HOME
    shipped = {source for recipe in RECIPES.values() for source in recipe}
    assert shipped == {str(path.relative_to(HOME)) for path in HOME.rglob("*") if path.is_file()}
