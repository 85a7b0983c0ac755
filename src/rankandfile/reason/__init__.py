"""The verbs: pure functions from model to model that end in a verdict.

They are loaded when they are asked for: whoever only wants to know what a cause means needs no tables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conclusion import conclude, diagnose
    from .facts import Facts, gather

__all__ = ["Facts", "conclude", "diagnose", "gather"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(
        import_module(f"{__name__}.{'facts' if name in ('Facts', 'gather') else 'conclusion'}"), name
    )
