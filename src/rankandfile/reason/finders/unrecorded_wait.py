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
            f"{verb(wait_end.ranks, 'It', 'They')} also "
            f"{verb(wait_end.ranks, 'sends and receives', 'send and receive')}, which gloo does not record, and may "
            "wait for another rank there.",
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
        missing=(
            Missing(
                what=f"the stacks of {those}",
                how="py-spy dump --pid PID shows whether it sits in a send or a receive, and from whom",
            ),
        ),
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
