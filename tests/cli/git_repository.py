"""Files and commits of git for the tests of what needs no warehouse."""

from __future__ import annotations

import subprocess
from pathlib import Path


def put(name: str, text: str) -> None:
    """Write a file, and the directories that it is in."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def git(*words: str) -> None:
    """Call git as somebody, whatever the settings of this machine are."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def commit_all(message: str = "all") -> None:
    """Put all that is in the present directory into a commit of its repository, which is made where it is missing."""
    if not Path(".git").exists():
        git("init", "-q", "-b", "main")
    git("add", "-A", ".")
    git("commit", "-q", "-m", message)
