"""Open a set of found evidence that was scored: the truths come back, beside the first answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from rankandfile.lab.blind import sealed
from rankandfile.lab.blind.scoring import MARKS, first_scoring
from rankandfile.lab.truth import short_ranks
from rankandfile.model.document import pretty
from rankandfile.model.errors import UserError

from .page import wrong
from .scoring import FoundRound

OPENED = "truth.json"


def reveal(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Of each folder its title, and lines on truth and answer. Raises `UserError` where it was not scored."""
    truths = sealed.read(folder).content.found
    first = first_scoring(folder)
    if first is None:
        raise UserError(f"{folder} was not scored yet, and is a blind set no more once it is revealed")
    marks = msgspec.json.decode((first / MARKS).read_bytes(), type=FoundRound).marks
    for one in marks:
        truth = truths[one.case]
        (folder / one.case / OPENED).write_bytes(pretty(truth) + b"\n")
        named = short_ranks(truth.culprits) or f"nobody, suspects {short_ranks(truth.suspects) or 'nobody'}"
        lines = [f"truth      {truth.cause or 'cannot be told'}: {named}", f"{one.mark:<10} {wrong(one)}"]
        yield f"{one.case}: {truth.title}", lines
