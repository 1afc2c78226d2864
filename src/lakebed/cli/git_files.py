"""Read files as they are in a commit of git: `git:REF:PATH`, or `git:REF` for the present directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import LakebedError, NotFoundError, UsageError

if TYPE_CHECKING:
    from lakebed.manifest.load import LoadedFile
    from lakebed.manifest.substitutions import Substitutions

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

    def manifests(self, substitutions: Substitutions, *, missing_ok: bool = False) -> tuple[LoadedFile, ...]:
        """What the manifest at this place declares, or those of the directory; none where it holds none.

        Links are followed within the commit. One that leads out of it, or to nothing, is told as an error of its file.
        Raises `NotFoundError` where there is no such commit, or no such path and that is not `missing_ok`, or where the
        place itself is such a link.
        """
        from lakebed.manifest.load import LoadedFile, declares_attributes

        commit = _commit(self.ref)
        place = self._object(commit)
        if place.kind == "blob":
            return (LoadedFile.parse(_run("cat-file", "blob", place.text), str(self), substitutions),)
        if place.kind == "tree":
            return tuple(
                LoadedFile(source, (), (found,))
                if isinstance(found, Diagnostic)
                else LoadedFile.parse(found, source, substitutions)
                for source, found in self._below(commit, place.text)
                if isinstance(found, Diagnostic) or not declares_attributes(found)
            )
        if not missing_ok and self.path != ".":
            message = f"there is no {self.path} in {self.ref}"
            raise NotFoundError.of("LB7062", message, path=str(self), remedy=f"`git ls-tree -r {self.ref}` lists it")
        return ()

    def content(self) -> bytes | None:
        """The bytes of the file; None where the place is a directory, or is not there.

        Raises `NotFoundError` for a link that leads out of the commit, or to nothing.
        """
        found = self._object(_commit(self.ref))
        return _run("cat-file", "blob", found.text) if found.kind == "blob" else None

    def _object(self, commit: str) -> _Object:
        """What is at this place."""
        (found,) = _followed(commit, [self.path])
        if found.leads_nowhere:
            raise NotFoundError(_no_target(str(self), found))
        return found

    def _below(self, commit: str, tree: str) -> Iterator[tuple[str, bytes | Diagnostic]]:
        """The manifests of the directory, by what positions call them: their bytes, or why a link has none.

        A link to a file that is among them, too, is left out, and so is one to a directory.
        """
        files, links = {}, []
        for name, mode, id_ in _listed(tree):
            path = name if self.path == "." else f"{self.path}/{name}"
            if _is_manifest(name) and mode == _LINK:
                links.append(path)
            elif _is_manifest(name) and mode != _SUBMODULE:
                files[path] = id_
        found: dict[str, Diagnostic] = {}
        for path, target in zip(links, _followed(commit, links), strict=True):
            source = f"{PREFIX}{self.ref}:{path}"
            if target.leads_nowhere:
                found[path] = _no_target(source, target)
            elif target.kind == "blob" and target.text not in files.values():
                files[path] = target.text
        contents: dict[str, bytes | Diagnostic] = {
            **dict(zip(files, _contents(list(files.values())), strict=True)),
            **found,
        }
        for path in sorted(contents):
            yield f"{PREFIX}{self.ref}:{path}", contents[path]


@dataclass(frozen=True, slots=True)
class _Object:
    """What `git cat-file` found: a `blob` or a `tree` with its id in `text`, `missing`, or a link that ends nowhere.

    Of a link out of the commit (`symlink`) `text` is where it leads.
    """

    kind: str
    text: str = ""

    @property
    def leads_nowhere(self) -> bool:
        return self.kind in _NOWHERE


#: What git says of a link that it does not follow to a file, in words; `link` is one that git is not asked for.
_NOWHERE = {
    "symlink": "leads out of the repository, to {}",
    "dangling": "leads to nothing in this commit",
    "loop": "leads to itself",
    "link": "has a line break in its name, and is not followed",
}
_LINK, _SUBMODULE = b"120000", b"160000"


def _no_target(source: str, link: _Object) -> Diagnostic:
    """The error of a link that leads to no file of the commit."""
    message = f"{source} is a link that {_NOWHERE[link.kind].format(link.text)}"
    remedy = "Name the file that it stands for, or compare with a commit that holds the file itself."
    return Diagnostic("LB7062", message, path=source, found=link.text or None, remedy=remedy)


def _is_manifest(name: str) -> bool:
    """Whether a file below the directory is named like a manifest; hidden ones are left out as on disk."""
    from lakebed.manifest.load import ENDINGS

    return not any(part.startswith(".") for part in name.split("/")) and name.lower().endswith(ENDINGS)


def refuse_bare_commit(text: str) -> None:
    """Raise `UsageError` (LB7060) for `REF` or `REF:PATH` of a commit that git knows here, which lacks the `git:`."""
    ref = text.partition(":")[0]
    if not ref or os.path.lexists(text) or shutil.which("git") is None:
        return
    if _output("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}").returncode == 0:
        message = f"there is no file {text}; as a commit of git it begins with {PREFIX}"
        expected = "git:REF, git:REF:PATH, a file or a directory"
        raise UsageError.of("LB7060", message, expected=expected, found=text, suggestions=(f"{PREFIX}{text}",))


def path_in_repository(file: str) -> str | None:
    """The path of a file from the root of the repository; None for what is not a file in it."""
    if not os.path.isfile(file):
        return None
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(_top_level() or os.getcwd()))
    return None if path.startswith(os.pardir) else path.replace(os.sep, "/")


def repository_root() -> Path | None:
    """The root of the repository that the present directory is in; None in none, and without a git."""
    try:
        found = _top_level()
    except NotFoundError:
        return None
    return None if found is None else Path(found)


def _top_level() -> str | None:
    done = _output("rev-parse", "--show-toplevel")
    return os.fsdecode(done.stdout.rstrip(b"\n")) if done.returncode == 0 else None


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


def _listed(tree: str) -> Iterator[tuple[str, bytes, str]]:
    """The files below a directory: name, mode and id of each."""
    for line in _run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0"):
        if line:
            head, _, name = line.partition(b"\t")
            mode, _, id_ = head.split(b" ")
            yield os.fsdecode(name), mode, id_.decode()


def _followed(commit: str, paths: Sequence[str]) -> list[_Object]:
    """What is at these paths of a commit, relative to the present directory, behind all links; git follows them."""
    asked = "".join(f"{commit}:./{'' if path == '.' else path}\n" for path in paths if "\n" not in path)
    given = _run("cat-file", "--batch-check", "--follow-symlinks", asked=os.fsencode(asked)) if asked else b""
    answers = _answers(given)
    return [_of_long_name(commit, path) if "\n" in path else next(answers) for path in paths]


def _answers(given: bytes) -> Iterator[_Object]:
    """What git said of each path: `ID KIND SIZE`, `PATH missing`, or a kind of link and the size of the next line."""
    while given:
        line, _, given = given.partition(b"\n")
        kind, _, size = line.partition(b" ")
        if line.endswith(b" missing"):
            yield _Object("missing")
        elif b" " in size:
            yield _Object(size.partition(b" ")[0].decode(), kind.decode())
        else:
            said, given = given[: int(size)], given[int(size) + 1 :]
            yield _Object("missing") if kind == b"notdir" else _Object(kind.decode(), os.fsdecode(said))


def _of_long_name(commit: str, path: str) -> _Object:
    """What is at a path with line breaks, which cannot be asked for by the line."""
    head, _, _ = _run("ls-tree", "-z", commit, "--", path).partition(b"\t")
    mode, kind, id_ = head.split(b" ") if head else (b"", b"missing", b"")
    return _Object("link" if mode == _LINK else kind.decode(), id_.decode())


def _contents(ids: Sequence[str]) -> Iterator[bytes]:
    """The bytes of files, which one process gives: a header with the size before each, a break after."""
    given = _run("cat-file", "--batch", asked="".join(f"{id_}\n" for id_ in ids).encode()) if ids else b""
    at = 0
    for _ in ids:
        end = given.index(b"\n", at)
        size = int(given[at:end].rpartition(b" ")[2])
        yield given[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def ref_names() -> list[str]:
    """The branches and tags of the repository, the last changed first. Raises as `GitPlace.manifests`."""
    asked = (
        "for-each-ref",
        "--sort=-committerdate",
        "--format=%(refname:short)",
        "refs/heads",
        "refs/remotes",
        "refs/tags",
    )
    return _run(*asked).decode(errors="replace").splitlines()


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
