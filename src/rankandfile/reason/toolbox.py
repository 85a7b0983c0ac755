"""What the files of causes are written with, loaded when it is first used.

What a cause means is asked for without a job at hand: by whoever renders a saved diagnosis, or writes its page. So a
file of a cause takes from here what needs tables: `from rankandfile.reason.toolbox import Facts, lookup, perhaps`.
What there is, `tools.py` lists.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tools import *  # noqa: F403
else:

    class _Later:
        """A function, class or module of the tools, looked up when it is called or asked for something."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __call__(self, *given: object, **named: object) -> object:
            return self._it()(*given, **named)

        def __getattr__(self, name: str) -> object:
            found = getattr(self._it(), name)
            setattr(self, name, found)
            return found

        def _it(self) -> object:
            return getattr(import_module("rankandfile.reason.tools"), self._name)

    def __getattr__(name: str) -> _Later:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Later(name)
