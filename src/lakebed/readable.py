"""Print values as people read them: `str()` calls the class's function in `lakebed.render`.

Rooms import from the rooms below them only, and rendering is above most; so the function is named, and imported when
something is printed. `repr()` stays that of the dataclass.
"""

from __future__ import annotations

from importlib import import_module
from typing import ClassVar


class Readable:
    """A value that prints as people read it. `renderer` is `module:function`, for a function of the value alone."""

    __slots__ = ()
    renderer: ClassVar[str]

    def __str__(self) -> str:
        module, _, function = self.renderer.partition(":")
        return str(getattr(import_module(module), function)(self))
