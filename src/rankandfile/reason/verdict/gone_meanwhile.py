"""A process was killed, lost, or aborted while no recorded call waited: its peers heard of it otherwise, or had come to
none.

Of all ranks it is never said: whoever ends a whole job so ends it from outside, and no rank of it is at fault.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finders.did_instead import story_of
from rankandfile.reason.ranks.did_instead import AskedRank, world_of
from rankandfile.reason.ranks.dump_times import ended_at_once
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.over import anybody_waited
from rankandfile.reason.words import ranks_words, shortened, upper, verb

from .finding import Finding

_MOST_TOLD, _LONGEST = 4, 120


def gone_meanwhile(facts: Facts) -> Finding | None:
    accounts, everyone = facts.accounts, range(world_of(facts))
    killed = {rank for rank, end in accounts.ends.items() if end.kind == "killed"}
    gone = sorted(killed | accounts.unreachable.keys())
    stories = {rank: story for rank in gone if (story := story_of(facts, AskedRank(rank, False)))}
    ranks = tuple(stories)
    if not ranks or len(ranks) >= len(everyone):
        return None
    told = [f"{ranks_words([rank])}: {story.doing}" for rank, story in stories.items()]
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    over = all(rank in stories or accounts.gone(rank) for rank in everyone) and ended_at_once(
        facts.case, facts.call_table.calls, facts.clocks
    )
    broke_off = "The job did not hang, it broke off: " if over else ""
    after = (
        "All others ended, too."
        if over
        else "Whether the others waited for something that is not recorded, nothing tells."
    )
    against = [words for story in stories.values() for words in story.contradicted][:_MOST_TOLD]
    disagree = f" The sources disagree: {'; '.join(against)}." if against else ""
    first = stories[ranks[0]]
    raised = sorted(accounts.raised.keys() - stories.keys())
    return Finding(
        hang=False if over else None,
        cause=first.cause,
        confidence="supported" if raised and first.confidence == "established" else first.confidence,
        sentence=(
            f"{upper(broke_off + '; '.join(told[:_MOST_TOLD]))}{more}. No {recorded_call(facts)} waits for "
            f"{verb(ranks, 'it', 'them')}. {after}{disagree}"
        ),
        culprits=ranks,
        doing={rank: story.doing for rank, story in stories.items()},
        evidence=tuple(dict.fromkeys(i for story in stories.values() for i in story.evidence))[:8],
        contradicted_by="a word of the launcher that it ended the process after another had failed",
        alternatives=(*_ended_for(raised), *first.alternatives),
    )


def recorded_call(facts: Facts) -> str:
    """As a sentence has it: not of dumps that were set aside."""
    used = facts.case.dumps_used.height == facts.case.dumps.height
    return "recorded call" if used else "call in the dumps that are used"


def _ended_for(raised: list[int]) -> tuple[Alternative, ...]:
    """A launcher that ends those who are left does it by a signal, too, in the end."""
    if not raised:
        return ()
    words = f"{upper(ranks_words(raised))} raised by {verb(raised, 'itself', 'themselves')}: a launcher may have ended"
    return (perhaps("raised", f"{words} the others for that.", raised, decided_by="the launcher's log"),)


def aborted_meanwhile(facts: Facts) -> Finding | None:
    """A process aborted itself, and others lost it: gloo does so where what it is sent does not fit.

    Whoever is sent it need not be the one that is out of line, and a watchdog aborts its process as well: nobody is
    named.
    """
    accounts, everyone = facts.accounts, range(world_of(facts))
    ranks = sorted(rank for rank, end in accounts.ends.items() if end.aborted)
    lost = sorted(rank for rank in everyone if rank in accounts.echoes and rank not in ranks)
    if not ranks or not lost or len(ranks) >= len(everyone) or accounts.gave_up:
        return None
    misfits = {rank: error for rank, error in accounts.misfits.items() if rank in ranks}
    aborted = f"{ranks_words(ranks)} {verb(ranks, 'aborted itself', 'aborted themselves')} (SIGABRT)"
    over = all(rank in accounts.ends and accounts.ends[rank].kind != "running" for rank in everyone)
    over = over and not anybody_waited(facts)
    told = _misfits(facts, list(misfits))
    why = f" {upper('; '.join(told[:_MOST_TOLD]))}." if told else ""
    or_else = " It, or whoever sent that, is in another call, or asked for another size." if misfits else ""
    their = verb(lost, "its connection", "their connections")
    return Finding(
        hang=False if over else None,
        cause="size_mismatch" if misfits else "undetermined",
        confidence="supported" if misfits else "hypothesis",
        sentence=(
            f"{upper(f'the job did not hang, it broke off: {aborted}' if over else aborted)}.{why}{or_else} "
            f"{upper(ranks_words(lost))} lost {their}{' and ended too' if over else ''}."
        ),
        evidence=tuple(
            dict.fromkeys(
                [
                    *(i for error in misfits.values() for i in error.evidence),
                    *(i for rank in ranks for i in accounts.ends[rank].evidence),
                    *(i for rank in lost[:_MOST_TOLD] for i in accounts.echoes[rank].evidence[:1]),
                ]
            )
        )[:8],
        contradicted_by="an earlier failure of another process",
        alternatives=tuple(
            perhaps(cause, f"{upper(ranks_words(ranks))} may have {did}.", ranks, decided_by=decided_by)
            for cause, did, decided_by in (_OUT_OF_LINE if misfits else _BY_ITSELF)
        ),
        missing=() if misfits else (Missing(what=f"on what {ranks_words(ranks)} aborted", how=_LAST_WORDS),),
    )


def _misfits(facts: Facts, ranks: list[int]) -> list[str]:
    """What each was sent, and what it had expected, as its own line has it."""
    events = facts.case.events.filter(pl.col("kind").cast(pl.String) == "gloo_size_disagrees")
    rows = {event_id(row["log"], row["line"]): row for row in events.iter_rows(named=True)}
    found = []
    for rank in ranks:
        error = facts.accounts.misfits[rank]
        fields = fields_of(rows[error.evidence[0]]) if error.evidence[0] in rows else {}
        sent, expected = fields.get("received"), fields.get("expected")
        what = (
            f"was sent {sent} bytes where it expected {expected}"
            if sent is not None and expected is not None
            else f"wrote '{shortened(error.words, _LONGEST)}'"
        )
        found.append(f"{ranks_words([rank])} {what}")
    return found


_LAST_WORDS = "the last lines of its log, what it wrote to stderr, its core dump"
_BOTH = "the call of both sides: their tracebacks, stacks or dumps"
_OUT_OF_LINE = (
    ("extra_collective", "made a call that the others do not make there", _BOTH),
    ("skipped_collective", "left out a call that the others wait in", _BOTH),
)
_BY_ITSELF = (("killed", "failed by itself, before anybody else did", _LAST_WORDS),)
