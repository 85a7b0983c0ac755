"""Words of the page: what the document says in one, and text of unknown origin such that what is seen is there."""

from __future__ import annotations

import re
from typing import TypeVar

from markupsafe import Markup, escape

from rankandfile.model.diagnosis import Cohort, Verdict
from rankandfile.model.ranks import parse_ranks

T = TypeVar("T")

#: Control characters, those that turn the direction of writing around or take no room, and halves of characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def visible(value: T) -> T | str:
    """A string with what a browser would hide, obey or refuse spelled out; anything else as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _HIDDEN.sub(_spelled, value)
    return "" if value is None else value


def prose(text: str) -> Markup:
    """A sentence of ours in which `code` stands in backticks. What the code is, is text."""
    parts = str(visible(text)).split("`")
    if len(parts) % 2 == 0:
        return escape("`".join(parts))
    shown = (
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part) for at, part in enumerate(parts)
    )
    return Markup("").join(shown)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


CONFIDENCE = {
    "established": "it follows from the evidence",
    "supported": "the evidence agrees; another explanation remains",
    "hypothesis": "nothing speaks against it; it is not proved",
}

STATES = {
    "issued": "issued: put into the queue, not known to have begun",
    "started": "started: begun on the device, not known to have ended",
    "completed": "completed",
    "ended": "ended: finished or failed, the recorder does not say which",
}


def odd_first(verdict: Verdict) -> list[tuple[int, Cohort, bool]]:
    """The cohorts where they diverged, each with its place in the document; first those of named ranks alone."""
    named = {one.rank for one in verdict.named}
    cohorts = enumerate(verdict.divergence.cohorts if verdict.divergence is not None else (), 1)
    found = [(place, one, bool(named) and named.issuperset(parse_ranks(one.ranks))) for place, one in cohorts]
    return sorted(found, key=lambda one: not one[2])
