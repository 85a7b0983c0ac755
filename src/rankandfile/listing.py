"""The modules of a folder as a list: a file that is put into the folder is on it, and is named nowhere else.

A file says with `ORDER = 30` where it stands among its neighbours; those that say nothing come last, by their names.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TypeVar

Kind = TypeVar("Kind")

_LAST = 1 << 20


def names(package: str) -> list[str]:
    """A package -> the names of its modules, by the alphabet. None of them is imported.

    >>> names("rankandfile.render.formats")
    ['github', 'json', 'junit', 'markdown', 'sarif']
    """
    return sorted(found.name for found in pkgutil.iter_modules(import_module(package).__path__))


@cache
def modules(package: str) -> Sequence[ModuleType]:
    """A package -> its modules, imported, in the order that they ask for."""
    found = [import_module(f"{package}.{name}") for name in names(package)]
    return sorted(found, key=lambda module: getattr(module, "ORDER", _LAST))


def word(module: ModuleType) -> str:
    """`dump_path.py` -> `dump-path`, as what is found by a check or a rule is signed."""
    return module.__name__.rpartition(".")[2].replace("_", "-")


def members(package: str, name: str, kind: type[Kind]) -> list[Kind]:
    """A package -> what each of its modules calls `name`, in order: each has one, and all are of one kind."""
    found = [(module, getattr(module, name, None)) for module in modules(package)]
    for module, member in found:
        if not isinstance(member, kind):
            raise TypeError(f"{module.__file__}: {name} is to be a {kind.__name__}")
    return [member for _, member in found if isinstance(member, kind)]
