"""The answer in one line, the same for the card, the page and every format: who did what, and where to look."""

from __future__ import annotations

import re

from rankandfile.model.causes import CAUSES, LEFT_MESSAGE_OUT, RECEIVES_FROM, SENDS_TO
from rankandfile.model.claims import LeftOut, NeverIssued
from rankandfile.model.diagnosis import SURE, Verdict
from rankandfile.model.ranks import parse_ranks

from .long_lists import said_ranks
from .places import seen_to_take
from .words import UNICODE, Signs, base_name, cause_words, culprit_ranks, place_text, plain


def headline(verdict: Verdict, world: int | None, signs: Signs = UNICODE) -> str:
    """Who did what, or how far it is known. `world`: of how many ranks the job is, where that is known."""
    if verdict.cause == "no_hang":
        return "NO HANG"
    if verdict.ordinary:
        return "NO HANG PROVED"
    begin = "NO HANG" if verdict.hang is False else "HANG" if verdict.hang else "IF IT HUNG"
    if not verdict.named:
        perhaps = "perhaps " if verdict.confidence == "hypothesis" and verdict.cause != "undetermined" else ""
        return f"{begin}: {perhaps}{_by_nobody(verdict)}"
    who = said_ranks(culprit_ranks(verdict), world, signs)
    if verdict.culprits:
        return f"{begin}: {who} {_did(verdict)}"
    if verdict.cause == "undetermined":
        return f"{begin}: cause open, suspect {who}"
    return f"{begin}: perhaps {who} {_did(verdict)}"


def _by_nobody(verdict: Verdict) -> str:
    """What happened, where it cannot be said of somebody."""
    if verdict.cause == "undetermined":
        return "cause open"
    if verdict.cause == "order_inversion":
        return "ranks came to their calls in different orders"
    return (
        "ranks went different ways"
        if verdict.family == "paths"
        else _DISAGREED.get(verdict.cause, "") or cause_words(verdict.cause)
    )


#: Where the arguments do not fit together, and nothing tells whose are wrong.
_DISAGREED = {
    "dtype_mismatch": "ranks asked for different dtypes",
    "group_mismatch": "ranks made different groups, or in another order",
    "root_mismatch": "ranks took different ranks for the root",
    "size_mismatch": "ranks asked for different sizes",
    "split_mismatch": "ranks send other amounts than are expected",
}

#: What ranks did that took another branch, where no condition was seen: as much as their calls show.
_BY_CALLS = {
    "absent": "did not come to the call",
    "skipped": "left out a call",
    "extra": "made a call more",
    "substituted": "made another call",
}


#: How what a rank did begins, where that is half of a message.
_TRANSFERS = (RECEIVES_FROM, SENDS_TO)


def _did(verdict: Verdict) -> str:
    found, where = CAUSES.get(verdict.cause), verdict.location
    kind = verdict.divergence.kind if verdict.divergence else ""
    if verdict.cause == "uneven_inputs" and _goes_on(verdict):
        return "had more data than the others"
    if verdict.cause == "rank_conditional" and not (where and where.condition):
        return _BY_CALLS.get(kind, "went another way")
    if verdict.cause == "killed" and all(
        (one.doing or "").startswith("aborted itself") for one in verdict.named
    ):
        return "aborted itself"
    if verdict.cause == "killed" and all((one.doing or "").startswith("gone:") for one in verdict.named):
        # Others lost it, and nothing tells how it ended.
        return "gone"
    if verdict.cause == "group_mismatch" and verdict.divergence is None:
        return "made other groups than the others"
    if verdict.cause == "order_inversion" and _of_messages(verdict):
        return "wait for each other's messages"
    if verdict.cause == "order_inversion" and len(verdict.named) > 1 and not verdict.victims:
        # Nobody is left whose order theirs would differ from.
        return "made collectives in different orders"
    if verdict.cause == "skipped_collective" and all(
        (one.doing or "").startswith(LEFT_MESSAGE_OUT) for one in verdict.named
    ):
        return LEFT_MESSAGE_OUT
    did = (found.did if found is not None else "") or f"({cause_words(verdict.cause)})"
    return f"were {did[4:]}" if did.startswith("was ") and len(verdict.named) > 1 else did


def _of_messages(verdict: Verdict) -> bool:
    """Whether it is messages that came in another order; a transfer that no dump records is told of by the ranks."""
    recorded = {row.op for row in verdict.waits} == {"recv"}
    return recorded or all((one.doing or "").startswith(_TRANSFERS) for one in verdict.named)


def _goes_on(verdict: Verdict) -> bool:
    """Who goes round once more, where the others have no item left, has not run out of data."""
    named = {one.rank for one in verdict.named}
    return any(one.truth for one in seen_to_take(verdict) if named & set(parse_ranks(one.ranks)))


def sure(verdict: Verdict) -> str:
    """In a word; where only the rank is known, of what."""
    word = SURE[verdict.confidence]
    return f"{word} who, not why" if verdict.cause == "undetermined" and verdict.culprits else word


def cause_beside(verdict: Verdict) -> str:
    """The cause in words, where the headline says what was done instead."""
    told = verdict.cause in ("undetermined", "no_hang") or verdict.ordinary
    by_its_name = not verdict.named and verdict.family != "paths" and verdict.cause not in _DISAGREED
    return "" if told or by_its_name else cause_words(verdict.cause)


#: A file of the standard library: of what is installed beside it, there may be something to look at.
_PYTHONS_OWN = re.compile(r"[/\\]python3\.\d+[/\\](?!(?:site|dist)-packages[/\\])|^<")


def place(verdict: Verdict) -> str:
    """Where to look: never the place of a call that was not made by those whom the headline names."""
    where = verdict.location
    if not verdict.hang:
        return ""
    if where is None:
        # The source was asked, and has no line that decides: what they called is still known.
        kind = verdict.divergence.kind if verdict.divergence is not None else ""
        told = verdict.family in ("paths", "arguments") and kind in ("skipped", *_MADE)
        return _their_call(verdict) if told else ""
    if not (verdict.named or where.condition) and verdict.cause == "undetermined":
        return ""
    if not where.condition and _PYTHONS_OWN.search(where.file):
        # Where no line of the program is known, Python's own is nowhere to look.
        return ""
    if not points_at_missing_call(verdict):
        spot = place_text(base_name(where.file), where.condition_line or where.line)
        if where.parted_line is not None:
            diverged_at = place_text(base_name(where.parted_file or where.file), where.parted_line)
            return plain(f"{diverged_at} (decided at {spot})")
        inside = f" in {where.function}" if where.function else ""
        return plain(f"{spot}{inside}")
    return _their_call(verdict)


#: Of a divergence in which those who are named made a call of their own; else they came to one later.
_MADE = ("substituted", "argument", "extra")


def _their_call(verdict: Verdict) -> str:
    """The place of the call that those made whom the headline names."""
    named = {one.rank for one in verdict.named}
    for cohort in verdict.divergence.cohorts if verdict.divergence is not None else ():
        call = cohort.call
        if call is not None and call.file is not None and named & set(parse_ranks(cohort.ranks)):
            # "skipped a collective at ...": of a call that was made, only what says so may stand beside its place.
            own = "at" if verdict.divergence and verdict.divergence.kind in _MADE else "next call:"
            return plain(f"{own} {place_text(base_name(call.file), call.line)}")
    return ""


def points_at_missing_call(verdict: Verdict) -> bool:
    """Whether the verdict's place is no condition but that of a call which the culprits never made."""
    where, named = verdict.location, {one.rank for one in verdict.named}
    kind = verdict.divergence.kind if verdict.divergence is not None else None
    if where is None or where.condition or not named or kind == "swapped":
        return False
    spot = (base_name(where.file), where.line)
    missed = [
        one
        for one in verdict.claims
        if isinstance(one, NeverIssued | LeftOut) and one.file and (base_name(one.file), one.line) == spot
    ]
    if kind == "skipped" or any(named & set(parse_ranks(one.ranks)) for one in missed):
        return True
    theirs = others = False
    for cohort in verdict.divergence.cohorts if verdict.divergence is not None else ():
        call = cohort.call
        if call is not None and call.file is not None and (base_name(call.file), call.line) == spot:
            mine = bool(named & set(parse_ranks(cohort.ranks)))
            theirs, others = theirs or mine, others or not mine
    return others and not theirs
