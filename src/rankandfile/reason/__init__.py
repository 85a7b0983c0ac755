"""The verbs: pure functions from model to model that end in a verdict.

`gather` the facts of a case, add the `findings` of every source of them, and `decide` which are believed; `with_source`
adds what the program's code says of that.

They are loaded when they are asked for: whoever only wants to know what a cause means needs no tables.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .conclusion import conclude, concluded, decide, diagnose, victims_of_somebody, with_source
    from .facts import Facts, gather
    from .verdict.precedence import Findings, findings

_MODULES = {
    "conclusion": (
        "conclude",
        "concluded",
        "decide",
        "diagnose",
        "victims_of_somebody",
        "with_source",
    ),
    "facts": ("Facts", "gather"),
    "verdict.precedence": ("Findings", "findings"),
}

__all__ = [
    "Facts",
    "Findings",
    "conclude",
    "concluded",
    "decide",
    "diagnose",
    "findings",
    "gather",
    "victims_of_somebody",
    "with_source",
]


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
