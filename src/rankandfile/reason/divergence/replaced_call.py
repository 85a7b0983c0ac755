"""What a call in place of another is, by where the two stand in the program."""

from __future__ import annotations

import numpy as np
import polars as pl
from msgspec.structs import replace

from rankandfile.reason.calls.rounds import predict
from rankandfile.reason.waits.facts import WaitFacts

from .code_paths import relation
from .divergence_point import DivergencePoint, calls_before
from .track_difference import Kind

_LONGEST_ROUND = 4096


def placed(facts: WaitFacts, found: DivergencePoint) -> DivergencePoint:
    """Tell what a call in place of another is, by where the two stand in the program."""
    if found.expected is None or found.came is None:
        return found
    before = calls_before(facts, found.expected)
    stacks = list(dict.fromkeys(before["stack"].drop_nulls().reverse().head(256).to_list()))
    how = relation(facts.case, stacks, found.expected["stack"], found.came["stack"])
    known = found.came["path"] in set(before["path"].drop_nulls().to_list())
    if how in ("after", "left", "behind") and known:
        # The loop makes this call after the expected one, and has made it before: the expected one was left out.
        return replace(found, how="after", kind="skipped", length=_left_out(facts, found))
    if (
        how == "before"
        or (how == "end" and known)
        or (how in ("unknown", "after") and not known and found.came["group"] != found.expected["group"])
    ):
        kind: Kind = "extra" if how in ("before", "end") else found.kind
        return replace(found, how=how, kind=kind, group=int(found.came["group"]), slot=found.came["slot"])
    return replace(found, how=how)


def _left_out(facts: WaitFacts, found: DivergencePoint) -> int:
    """How many calls of its round lie between the expected call and the one that came, by the rounds before."""
    assert found.expected is not None and found.came is not None
    before = calls_before(facts, found.expected).filter(pl.col("group") == found.group)["token"].to_numpy()
    due = predict(before, _LONGEST_ROUND)
    places = np.flatnonzero(due == np.uint64(found.came["token"]))
    return int(places[0]) if places.size and places[0] else 1
