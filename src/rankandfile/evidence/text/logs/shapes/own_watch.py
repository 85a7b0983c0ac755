"""What a program's own watch over its steps says: that none has ended for a minute, or for longer."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 165

_MINUTE_MS = 60_000


def _in_minutes(event: Event, _context: Context) -> None:
    amount, unit = event.fields.pop("amount", None), str(event.fields.pop("unit", ""))
    if isinstance(amount, int):
        event.waited_ms = amount * _MINUTE_MS * (60 if unit.startswith("h") else 1)


SHAPES = (
    Shape(
        "no_step", "Z2", "messenger",
        # Ordinary lines have the words `step` and `progress`: only what stands around them here is rare.
        ("no step for", "No step for", "no step in ", "No step in ", "step finished", "step complete", "step has been", "step ended for",
         "steps finished", "steps complete", "tion finished", "tion complete", "tion has been", "batch finished", "batch complete",
         "ogress for ", "ogress in the", "ogress since ", "ogress within", "ogress made", "ogress has been", "ogress after",
         "not progressed", "not advanced", "not made progress", "n't made progress"),
        r"\b(?:[Nn]o (?:training |new |optimizer )?(?:steps?|progress|iterations?|batch|batches)(?: (?:was|has been|have been|has|have|is))?(?: (?:finished|completed|complete|done|made|seen|ended|taken|logged|reported|progress))?|(?:not|n't) (?:progressed|advanced|made (?:any )?progress))"
        r",? (?:for|in|since|within|after)(?: more than| over| at least| about)?(?: the)?(?: last| past)? (?:(?P<waited_s>[6-9]\d|\d{3,7})(?:\.\d{1,6})?\s*s(?:ec(?:ond)?s?)?|(?P<amount>\d{1,5})\s*(?P<unit>m(?:in(?:ute)?s?)?|h(?:ours?|rs?)?))\b(?:.{0,40}?\bstep\s*[:=#]?\s*(?P<step>\d+))?",
        then=_in_minutes,
    ),
)  # fmt: skip
