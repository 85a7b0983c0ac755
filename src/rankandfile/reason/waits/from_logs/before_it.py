"""What ranks that are out of line had logged before: an exception that they survived, a line that they alone wrote."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told as told_sentence
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.whole_job.odd_in_logs import said_differently
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.ranks.from_logs.accounts import Error
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, shortened, upper

#: Of so many that wait, one at most is suspected for an exception before.
_TIMES = 3
_LONGEST = 140


def with_what_came_before(facts: Facts, found: Finding) -> Finding:
    """The finding with what led there, where each of the ranks that it blames tells it."""
    if not found.culprits:
        return found
    return _survived(facts, found) or _said_so(facts, found) or found


def _survived(facts: Facts, found: Finding) -> Finding | None:
    """They raised, and their watchdogs gave up on a later call: the exception was caught."""
    raised = facts.accounts.raised
    errors = {
        rank: raised[rank] for rank in found.culprits if rank in raised and _before(facts, rank, raised[rank])
    }
    words = {error.words for error in errors.values()}
    if len(errors) < len(found.culprits) or any(
        e.words in words for r, e in raised.items() if r not in errors
    ):
        # All others met it too, or some of these did not: it does not set them apart.
        return None
    first = next(iter(errors.values()))
    told = "; ".join(f"{ranks_words([rank])} raised {error.words}" for rank, error in errors.items())
    return replace(
        _led_by(found, "swallowed_exception", "the source between the exception and the call"),
        sentence=told_sentence(
            found.sentence, f"Before that, {told}, and went on to that call: the exception was caught."
        ),
        doing={
            r: f"raised {e.words}, went on, and {found.doing.get(r, 'made another call')}"
            for r, e in errors.items()
        },
        location=location_of(first.place) or found.location,
        evidence=(*found.evidence, *(i for error in errors.values() for i in error.evidence)),
    )


def suspected(facts: Facts, found: Finding, waiting: tuple[int, ...]) -> Finding:
    """Where all wait in one call: few that raised before it, and went on, may have left a call out."""
    raised = facts.accounts.raised
    errors = {rank: raised[rank] for rank in waiting if rank in raised and _before(facts, rank, raised[rank])}
    if not errors or len(errors) * _TIMES > len(waiting):
        return found
    told = "; ".join(f"{ranks_words([rank])} raised {_short(error)}" for rank, error in errors.items())
    ranks = tuple(errors)
    return replace(
        found,
        cause="swallowed_exception",
        sentence=told_sentence(
            found.sentence,
            f"Before that, {told}, and went on to that call: it may have left out calls that the others made.",
        ),
        culprits=ranks,
        doing={rank: f"raised {_short(error)}, and went on" for rank, error in errors.items()},
        victims=tuple(rank for rank in found.victims if rank not in errors),
        location=location_of(next((e.place for e in errors.values() if e.place), None)),
        evidence=(*(i for error in errors.values() for i in error.evidence), *found.evidence),
    )


def _short(error: Error) -> str:
    return shortened(error.words.rstrip("."), _LONGEST)


def _before(facts: Facts, rank: int, error: Error) -> bool:
    """Whether the exception stands above what the rank's watchdog wrote, in the same log."""
    reports = [r.evidence for r in facts.accounts.of_rank.get(rank, ()) if r.seq is not None]
    log, _, line = error.evidence[0].partition(":")
    below = [
        one for one in reports if one.partition(":")[0] == log and int(one.partition(":")[2]) > int(line)
    ]
    return bool(below) and not facts.accounts.gone(rank)


def _said_so(facts: Facts, found: Finding) -> Finding | None:
    """Each wrote, alone of all, why it would leave the others' way."""
    said = {
        one.rank: one
        for one in said_differently(facts.case)
        if one.cause not in ("undetermined", found.cause)
    }
    if any(rank not in said for rank in found.culprits):
        return None
    lines = [said[rank] for rank in found.culprits]
    told = "; ".join(f"{ranks_words([one.rank])} {one.words}" for one in lines)
    return replace(
        _led_by(found, lines[0].cause, "the code that prints that line"),
        sentence=told_sentence(found.sentence, f"{upper(told)}."),
        doing={one.rank: f"{one.words}; {found.doing.get(one.rank, '')}".rstrip("; ") for one in lines},
        evidence=(*found.evidence, *(one.evidence for one in lines)),
    )


def _led_by(found: Finding, cause: str, decided_by: str) -> Finding:
    other = Alternative(
        cause=found.cause,
        confidence=found.confidence,
        sentence=f"{upper(ranks_words(found.culprits))} may have come there for another reason.",
        culprits=format_ranks(found.culprits),
        decided_by=decided_by,
    )
    return replace(found, cause=cause, alternatives=(other, *found.alternatives))
