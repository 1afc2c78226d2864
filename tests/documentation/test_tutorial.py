"""The tutorial, word for word: its files are written, its commands run, and what it shows is what comes out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli.command_line import CommandLine
from documentation.pages import REPOSITORY, Block, blocks

TUTORIAL = REPOSITORY / "docs" / "tutorial.md"
_FILE = re.compile(r"`([\w-]+\.(?:yaml|csv|jsonl))`(?=[^`]*:$)")
#: What a reader does in a shell besides.
_SHELL = ("python3 -m venv", "pip install", "cat ")


@dataclass
class Reader:
    """Who follows a page: writes files, runs commands, and looks at what they say."""

    lakebed: CommandLine
    said: str = ""

    def follow(self, block: Block) -> None:
        name = _FILE.search(block.before)
        if name is not None and not block.commands:
            Path(name[1]).write_text(block.text, encoding="utf-8")
        elif block.commands:
            self.refuse_others(block)
            for words in block.commands:
                self.said = self.lakebed.ok(*words)
        elif block.text.startswith(_SHELL):
            self.refuse_others(block)
        else:
            assert _bare(block.text) == _bare(self.said)

    @staticmethod
    def refuse_others(block: Block) -> None:
        """Lines that are no commands of Lakebed are known ones of a shell."""
        others = [line for line in block.text.splitlines() if not line.startswith("lakebed ")]
        assert all(line.startswith(_SHELL) for line in others), others


def _bare(text: str) -> list[str]:
    """The lines with something on them, without blanks at their ends."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("LAKEBED_WAREHOUSE", "COLUMNS", "SPARK_REMOTE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_tutorial(spark: SparkSession, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dropping = "lakebed apply orders.yaml --yes --allow LB4203:comment"
    reader = Reader(CommandLine(capsys))
    for block in blocks(TUTORIAL):
        if dropping in block.text:
            drop_comment(here / "orders.yaml")
            refused, allowed = block.commands
            assert reader.lakebed("plan", "orders.yaml").out.count("breaking") == 2
            assert reader.lakebed(*refused).code == 11
            reader.lakebed.ok(*allowed)
        elif block.language == "python":
            exec(compile(block.text, str(TUTORIAL), "exec"), {})
            assert "99.90" in capsys.readouterr().out
        else:
            reader.follow(block)


def drop_comment(manifest: Path) -> None:
    """What the text asks for before the last step: no block shows it."""
    text = manifest.read_text(encoding="utf-8")
    cut = re.sub(r"      - name: comment\n(?:        .*\n)*", "", text)
    assert cut != text
    manifest.write_text(cut, encoding="utf-8")
