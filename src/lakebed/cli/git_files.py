"""Read files as they are in a commit of git: `git:REF:PATH`, or `git:REF` for the present directory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakebed.diagnostics import near_names
from lakebed.errors import LakebedError, NotFoundError, UsageError

if TYPE_CHECKING:
    from lakebed.manifest.load import LoadedFile

PREFIX = "git:"
_SHALLOW = "in CI, fetch its history first: `git fetch origin REF`, or `fetch-depth: 0` of actions/checkout"


@dataclass(frozen=True, slots=True)
class GitPlace:
    """A path in a commit, relative to the present directory; `path` is `.` for that directory itself."""

    ref: str
    path: str

    @classmethod
    def parse(cls, text: str) -> GitPlace:
        """The place that `git:REF:PATH` or `git:REF` means. Raises `UsageError` where no commit is named."""
        ref, _, path = text.removeprefix(PREFIX).partition(":")
        if not ref:
            remedy = "write git:main, or git:main:schemas/orders.yaml"
            raise UsageError.of(
                "LB7060", f"{text!r} names no commit", expected="git:REF or git:REF:PATH", remedy=remedy
            )
        return cls(ref, os.path.relpath(path) if path else ".")

    def __str__(self) -> str:
        return f"{PREFIX}{self.ref}" if self.path == "." else f"{PREFIX}{self.ref}:{self.path}"

    def within(self, path: str) -> GitPlace:
        """Another path in the same commit."""
        return GitPlace(self.ref, os.path.relpath(path))

    def manifests(self, *, missing_ok: bool = False) -> tuple[LoadedFile, ...]:
        """What the manifest at this place declares, or those of the directory; none where it holds none.

        Raises `NotFoundError` where there is no such commit, or no such path and that is not `missing_ok`.
        """
        from lakebed.manifest.load import LoadedFile, declares_attributes

        commit = _commit(self.ref)
        names = _run("ls-tree", "-r", "-z", "--name-only", commit, "--", self.path).split(b"\0")
        listed = [os.fsdecode(name) for name in names if name]
        if not listed and not missing_ok and self.path != ".":
            message = f"there is no {self.path} in {self.ref}"
            raise NotFoundError.of("LB7062", message, path=str(self), remedy=f"`git ls-tree -r {self.ref}` lists it")
        wanted = listed if listed == [self.path] else [name for name in listed if self._is_manifest(name)]
        found = []
        for name, data in _contents(commit, sorted(wanted)):
            if name == self.path or not declares_attributes(data):
                found.append(LoadedFile.parse(data, f"{PREFIX}{self.ref}:{name}"))
        return tuple(found)

    def content(self) -> bytes | None:
        """The bytes of the file; None where the place is a directory, or is not there."""
        commit = _commit(self.ref)
        kind = _output("cat-file", "-t", f"{commit}:./{self.path}")
        return (
            _run("show", f"{commit}:./{self.path}") if kind.returncode == 0 and kind.stdout.strip() == b"blob" else None
        )

    def _is_manifest(self, name: str) -> bool:
        """Whether a file below the directory is named like a manifest; hidden ones are left out as on disk."""
        from lakebed.manifest.load import ENDINGS

        parts = os.path.relpath(name, self.path).split(os.sep)
        return not any(part.startswith(".") and part != ".." for part in parts) and name.lower().endswith(ENDINGS)


def path_in_repository(file: str) -> str | None:
    """The path of a file from the root of the repository; None for what is not a file in it."""
    if not os.path.isfile(file):
        return None
    done = _output("rev-parse", "--show-toplevel")
    root = os.fsdecode(done.stdout.rstrip(b"\n")) if done.returncode == 0 else os.getcwd()
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
    return None if path.startswith(os.pardir) else path.replace(os.sep, "/")


def _commit(ref: str) -> str:
    """The id of a commit; what a user calls it never gets near the options of another command."""
    inside = _output("rev-parse", "--git-dir")
    if inside.returncode != 0:
        message = f"{os.getcwd()} is in no repository of git"
        raise NotFoundError.of("LB7061", message, remedy="call it where the repository is checked out")
    done = _output("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if done.returncode != 0:
        known = _output("for-each-ref", "--format=%(refname:short)").stdout.decode(errors="replace").split()
        message = f"git knows no commit {ref!r}"
        raise NotFoundError.of("LB7061", message, found=ref, suggestions=near_names(ref, known), remedy=_SHALLOW)
    return done.stdout.decode().strip()


def _contents(commit: str, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of files of a commit, which one process gives: a header with the size before each, a break after."""
    one_line = [name for name in names if "\n" not in name]
    asked = "".join(f"{commit}:./{name}\n" for name in one_line)
    given = _run("cat-file", "--batch", asked=os.fsencode(asked)) if one_line else b""
    at = 0
    for name in one_line:
        end = given.index(b"\n", at)
        size = int(given[at:end].rpartition(b" ")[2])
        yield name, given[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    for name in names:
        if "\n" in name:
            yield name, _run("cat-file", "blob", f"{commit}:./{name}")


def _run(*words: str, asked: bytes = b"") -> bytes:
    done = _output(*words, asked=asked)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise LakebedError.of("LB7061", f"git failed: {said}")
    return done.stdout


def _output(*words: str, asked: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *words], capture_output=True, check=False, input=asked)
    except FileNotFoundError as error:
        remedy = "install it, or give files; `git show REF:PATH | lakebed diff - FILE` works with any git"
        raise NotFoundError.of("LB7061", "there is no program git", remedy=remedy) from error
