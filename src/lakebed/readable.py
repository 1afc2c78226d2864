"""Print values as people read them: `str()` calls the class's function in `lakebed.render`.

Rooms import from the rooms below them only, and rendering is above most; so the function is named, and imported when
something is printed. `repr()` stays that of the dataclass.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class Displayable:
    """A value that notebooks show as HTML. `html_renderer` is `module:function`, for a function of the value alone."""

    __slots__ = ()
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:text_html"

    def _repr_html_(self) -> str:
        return str(_function(self.html_renderer)(self))


class Readable(Displayable):
    """A value that prints as people read it. `renderer` is `module:function`, for a function of the value alone."""

    __slots__ = ()
    renderer: ClassVar[str]

    def __str__(self) -> str:
        return str(_function(self.renderer)(self))


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)
