"""A fix pattern: one file each in `patterns`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from rankandfile.model.causes import CAUSES

from .code import Module
from .edit import Edits
from .patch import Patch, Refusal
from .place_to_mend import PlaceToMend
from .spelling import Spelling


class Draft(Struct, frozen=True):
    """What a pattern has to say of a place: its edits, and the words for them."""

    edits: Edits
    title: str
    text: str
    decide: str = ""


#: Looks at a place and drafts a change; a text says why it must not, none that the pattern is for other places.
Make = Callable[[PlaceToMend, bool], "Draft | Refusal | None"]


class Pattern(Struct, frozen=True):
    name: str
    causes: frozenset[str]
    make: Make
    meets: bool = False
    """The patch lets all ranks meet at the place itself, which helps only where all of them come there."""


def spelling(place: PlaceToMend, plain: bool, module: Module | None = None) -> Spelling:
    return Spelling(Edits(module or place.module), plain)


def finished(pattern: Pattern, draft: Draft) -> Patch:
    """The draft as a patch. Raises `CannotEdit`."""
    module = draft.edits.module
    return Patch(
        pattern=pattern.name,
        title=draft.title,
        text=draft.text,
        path=module.path,
        before=module.text,
        after=draft.edits.apply(),
        decide=draft.decide,
    )


PATHS = frozenset(cause.word for cause in CAUSES.values() if cause.family == "paths")
"""Causes of the family "ranks took different paths"; other causes of the same source may come out as one of these."""

ORDERS = PATHS | {"size_mismatch", "dtype_mismatch"}
"""Where ranks call in different orders, other arguments meet."""
