"""Write the recipes for CI that come with Lakebed into a repository: GitHub's and GitLab's."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lakebed.cli.configuration import nearest_file
from lakebed.cli.files import write_file
from lakebed.cli.git_files import repository_root

#: Where each file of a recipe goes, from the root of the repository; the last one is what starts it.
RECIPES = {
    "github": {
        "github/action.yml": ".github/actions/lakebed/action.yml",
        "github/workflow.yml": ".github/workflows/lakebed.yml",
    },
    "gitlab": {"gitlab/lakebed.gitlab-ci.yml": ".gitlab/lakebed.gitlab-ci.yml"},
}
_GITLAB = ".gitlab-ci.yml"
_INCLUDE = "include:\n  - local: .gitlab/lakebed.gitlab-ci.yml\n"
#: The line of a recipe that says where the project is.
_DIRECTORY = 'LAKEBED_DIRECTORY: "."'


@dataclass(frozen=True, slots=True)
class WrittenRecipe:
    """The files of a recipe, as paths from `root`: those written now, and those that were there with other content."""

    root: str
    written: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def text(self) -> str:
        """What was written, and what has to be done by hand."""
        said = [f"For CI there {'are' if len(self.written) > 1 else 'is'} {' and '.join(self.written)} in {self.root}."]
        said = said if self.written else []
        for path in self.kept:
            by_hand = "include .gitlab/lakebed.gitlab-ci.yml in it" if path == _GITLAB else "remove it to have it anew"
            said.append(f"{path} was there and was left as it is: {by_hand}.")
        return " ".join(said) or "The recipe for CI is there already."


def write_recipe(kind: str) -> WrittenRecipe:
    """Write the recipe of `github` or `gitlab` into the repository that the present directory is in, else here.

    It says in which directory of the repository the project is. No file is written over.
    """
    root = repository_root() or Path.cwd()
    found = nearest_file(Path.cwd())
    project = os.path.relpath(os.path.realpath(Path.cwd() if found is None else found.parent), os.path.realpath(root))
    home = files(__package__) / "recipes"
    contents = {target: (home / source).read_text(encoding="utf-8") for source, target in RECIPES[kind].items()}
    if kind == "gitlab":
        contents[_GITLAB] = _INCLUDE
    written, kept = [], []
    for target, content in contents.items():
        text = content.replace(_DIRECTORY, f"LAKEBED_DIRECTORY: {json.dumps(Path(project).as_posix())}")
        path = root / target
        if not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, text)
            written.append(target)
        elif path.read_bytes() != text.encode():
            kept.append(target)
    return WrittenRecipe(str(root), tuple(written), tuple(kept))


def is_offered() -> bool:
    """Whether this is a repository of git that has no recipe yet."""
    root = repository_root()
    targets = [list(recipe.values())[-1] for recipe in RECIPES.values()]
    return root is not None and not any((root / target).exists() for target in targets)
