"""The trail ends at ranks whose sends and receives no recorder keeps: they may wait in one of those, or are seen to."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.sentence import Sentence, told
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, pending_row, waiting_sentence
from rankandfile.reason.words import ranks_words, upper, verb

_MOST = 4


def may_wait_unseen(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding:
    seen = [stand for rank in wait_end.ranks if (stand := facts.hosts.get(rank)) and stand.activity == "p2p"]
    if len(seen) == len(wait_end.ranks):
        return _waits_in_a_transfer(facts, wait_end, call, seen)
    those = ranks_words(wait_end.ranks)
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=_sentence(
            facts,
            wait_end,
            call,
            _may_wait(facts, wait_end.ranks),
        ),
        evidence=cited(pending_row(facts, call)),
        contradicted_by="a stack outside of any send or receive",
        alternatives=(
            perhaps(
                "host_blocked",
                f"{upper(those)} may be stuck on the host.",
                wait_end.ranks,
                decided_by="stacks",
            ),
        ),
        missing=(what_they_do(facts, wait_end.ranks),),
    )


def what_they_do(facts: Facts, ranks: tuple[int, ...]) -> Missing:
    """What would tell most of ranks that are in no recorded call."""
    unseen = tuple(rank for rank in ranks if rank not in facts.hosts)
    if unseen:
        shows = " shows whether it sits in a send or a receive, and from whom" if facts.hidden else ""
        return Missing(what=f"the stacks of {ranks_words(unseen)}", how=f"py-spy dump --pid PID{shows}")
    if facts.code.makes_groups is None:
        return Missing(
            what="the program's source", how="--src DIR: what they do at the lines where they stand"
        )
    return Missing(
        what=f"whom {ranks_words(ranks)} {verb(ranks, 'waits', 'wait')} for",
        how="py-spy dump --locals --pid PID shows the peer of a transfer; raf run records each",
    )


def _may_wait(facts: Facts, ranks: tuple[int, ...]) -> str:
    it, sends = verb(ranks, "It", "They"), verb(ranks, "sends and receives", "send and receive")
    if any(facts.hidden[rank] for rank in ranks):
        return f"{it} also {sends}, which gloo does not record, and may wait for another rank there."
    if any(facts.hidden.values()):
        return (
            f"Other ranks also send and receive, which gloo does not record: {it.lower()} may do so as well, and wait "
            "for another rank there."
        )
    return (
        f"gloo records no send and no receive: {it.lower()} may be in one, and wait for another rank there."
    )


def _waits_in_a_transfer(facts: Facts, wait_end: WaitEnd, call: Pending, seen: list[Stand]) -> Finding:
    those = ranks_words(wait_end.ranks)
    where: dict[str, list[int]] = {}
    for rank, stand in zip(wait_end.ranks, seen, strict=True):
        where.setdefault(stand.phrase, []).append(rank)
    rows = [f"{ranks_words(r)} {verb(r, 'waits', 'wait')} {phrase}" for phrase, r in where.items()]
    waits = upper("; ".join(rows[:_MOST]) + ("; and so on" if len(rows) > _MOST else ""))
    peers = sorted(
        {peer for stand in seen if (peer := stand.asked.awaited) in call.waiting and peer is not None}
    )
    other = ranks_words(peers) if peers else "Whoever is on the other side"
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=_sentence(
            facts,
            wait_end,
            call,
            f"{waits}, which gloo does not record.",
        ),
        location=seen[0].location if len(where) == 1 else None,
        evidence=(
            *cited(pending_row(facts, call)),
            *(one for stand in seen[:3] for one in stand.evidence[:1]),
        ),
        contradicted_by="a later stack outside of any send or receive",
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(other)} may have left that message out, or be ahead of it.",
                peers,
                decided_by="the source: who sends what to whom, and when",
            ),
            perhaps(
                "extra_collective",
                f"{upper(those)} may wait for one message too many.",
                wait_end.ranks,
                decided_by="the source: who sends what to whom, and when",
            ),
        ),
        missing=(
            Missing(
                what="who sends what to whom",
                how="the program's source (--src), and py-spy dump --locals --pid PID, which shows the peer",
            ),
        ),
    )


def _sentence(facts: Facts, wait_end: WaitEnd, call: Pending, what: str) -> Sentence:
    return told(
        f"{upper(ranks_words(wait_end.ranks))} {verb(wait_end.ranks, 'has', 'have')} not issued the "
        f"{call_phrase(facts, call)} that others wait in. {what}",
        waiting_sentence(facts, wait_end, wait_end.ranks),
    )
