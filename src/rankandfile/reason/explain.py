"""Why one rank is stuck, and why it is blamed or not: the chain of waits from it to the end, link by link."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

from rankandfile.model.diagnosis import SURE, Confidence, Diagnosis, Verdict
from rankandfile.model.ranks import parse_ranks
from rankandfile.model.sentence import in_words
from rankandfile.reason.claims.in_words import call_of, who_waits
from rankandfile.reason.waits.in_words import in_calls

from . import lookup
from .facts import Facts
from .ranks.missing_dumps import absent_ranks, reasons
from .verdict.calls_that_wait import of_wait_end
from .verdict.finding import Finding
from .waits.graph import Pending, WaitEnd
from .waits.in_words import call_phrase, pending_row
from .words import ranks_words, upper, verb

_UNKNOWN = "which all others joined; of {} nothing is known"
_UNCOUNTED = "and whether {} came to it cannot be told: the rings have lost what it would be counted by"

Role = Literal["culprit", "victim", "bystander", "unseen"]


class Explanation(Struct, frozen=True):
    rank: int
    role: Role
    lines: tuple[str, ...]
    evidence: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class _Blame(NamedTuple):
    """Who is blamed, and by what words."""

    culprits: frozenset[int]
    victims: frozenset[int]
    confidence: Confidence
    sentence: str
    doing: dict[int, str]
    overturned_by: str
    evidence: tuple[str, ...]


def explain(facts: Facts, rank: int, diagnosis: Diagnosis | None = None) -> Explanation:
    """`diagnosis` is what was concluded in the end: with the source, it can name others than the dumps alone."""
    blames = [
        _of_finding(best, wait_end)
        for wait_end in facts.wait_ends
        if (best := next(iter(of_wait_end(facts, wait_end)), None)) is not None
    ]
    if diagnosis is not None:
        overturned = {blame.culprits: blame.overturned_by for blame in blames}
        blames = [_of_verdict(verdict, overturned) for verdict in diagnosis.verdicts]
    culprits = {culprit for blame in blames for culprit in blame.culprits}
    if rank not in facts.case.ranks_seen and rank not in culprits:
        return _unseen(facts, rank)
    links = _chain(facts, rank, culprits)
    if rank in culprits:
        return _culprit(facts, rank, next(blame for blame in blames if rank in blame.culprits), links)
    behind_it = next((blame for blame in blames if rank in blame.victims and blame.culprits), None)
    if links:
        return _victim(facts, rank, links, culprits, behind_it)
    return _bystander(facts, rank, behind_it)


def _of_finding(finding: Finding, wait_end: WaitEnd) -> _Blame:
    return _Blame(
        frozenset(finding.culprits),
        frozenset({*wait_end.victims, *wait_end.ranks} - set(finding.culprits)),
        finding.confidence,
        in_words(finding.sentence),
        dict(finding.doing),
        finding.contradicted_by or "",
        tuple(finding.evidence),
    )


def _of_verdict(verdict: Verdict, overturned: Mapping[frozenset[int], str]) -> _Blame:
    culprits = frozenset(culprit.rank for culprit in verdict.culprits)
    doing = {culprit.rank: culprit.doing for culprit in verdict.culprits if culprit.doing}
    return _Blame(
        culprits,
        frozenset(parse_ranks(verdict.victims)),
        verdict.confidence,
        verdict.sentence,
        doing,
        overturned.get(culprits, ""),
        tuple(verdict.evidence),
    )


def _chain(facts: Facts, rank: int, culprits: set[int]) -> list[tuple[int, Pending]]:
    """The shortest way from the rank over pending calls to a culprit or, if there is none, to where the waits end."""
    came: dict[int, tuple[int, Pending]] = {}
    queue, seen, last = deque([rank]), {rank}, rank
    while queue:
        here = last = queue.popleft()
        if here in culprits and here != rank:
            break
        for index in facts.waits.of_rank.get(here, ()):
            call = facts.waits.pending[index]
            for there in call.lacking or call.behind or call.busy or call.unknown:
                if there not in seen:
                    seen.add(there)
                    came[there] = (here, call)
                    queue.append(there)
    links: list[tuple[int, Pending]] = []
    while last in came:
        before, call = came[last]
        links.append((before, call))
        last = before
    links.reverse()
    if not links and facts.waits.of_rank.get(rank):
        links = [(rank, facts.waits.pending[facts.waits.of_rank[rank][0]])]
    return links


def _link(facts: Facts, rank: int, call: Pending) -> str:
    here = in_calls(facts, call, set(call.waiting) - {rank})
    words = f"Rank {rank} waits in the {call_of(here[0]) if here else call_phrase(facts, call)}"
    unknown = _UNKNOWN if set(call.unknown) & set(absent_ranks(facts)) else _UNCOUNTED
    for ranks, one, many in (
        (call.lacking, "which {} has not issued", "which {} have not issued"),
        (call.behind, "which the device of {} has not begun", "which the devices of {} have not begun"),
        (call.busy, "which {} has joined, but cannot begin yet", "which {} have joined, but cannot begin yet"),
        (call.unknown, unknown, unknown),
    ):  # fmt: skip
        others = tuple(r for r in ranks if r != rank)
        if others:
            return f"{words}, {verb(others, one, many).format(ranks_words(others))}."
    if call.mismatched:
        return f"{words}, in which not all members asked for the same thing."
    return f"{words}, which every known member has joined."


def _evidence(facts: Facts, links: list[tuple[int, Pending]]) -> tuple[str, ...]:
    ids: list[str] = []
    for rank, call in links:
        row = lookup.call_at(facts, rank, call.group, call.slot) if call.slot is not None else None
        row = row or pending_row(facts, call)
        ids += [lookup.evidence_of(row)] if row else []
        for other in (*call.lacking, *call.behind, *call.busy)[:2]:
            ids += lookup.standing_evidence(facts, other, call.group)
    return tuple(dict.fromkeys(ids))


def _culprit(facts: Facts, rank: int, best: _Blame, links: list[tuple[int, Pending]]) -> Explanation:
    lines = [f"Rank {rank} is blamed ({SURE[best.confidence]}): {best.sentence}"]
    if rank in best.doing:
        lines.append(f"What it did instead: {best.doing[rank]}.")
    lines += [_link(facts, r, call) for r, call in links[:1]]
    if best.overturned_by:
        lines.append(f"What would overturn this: {best.overturned_by}.")
    return Explanation(rank, "culprit", tuple(lines), best.evidence)


def _victim(
    facts: Facts, rank: int, links: list[tuple[int, Pending]], culprits: set[int], behind_it: _Blame | None
) -> Explanation:
    lines = [_link(facts, r, call) for r, call in links]
    last = links[-1][1]
    end = last.lacking or last.behind or last.busy or last.unknown
    blamed = culprits & set(end)
    if blamed:
        lines.append(
            f"The chain ends there: {ranks_words(sorted(blamed))} {verb(sorted(blamed), 'is', 'are')} blamed."
        )
    elif behind_it is not None:
        lines.append(f"The chain ends there: {_blamed(behind_it)}")
    lines.append(f"Rank {rank} is not blamed: it came to the call, and waits.")
    return Explanation(rank, "victim", tuple(lines), _evidence(facts, links))


def _blamed(blame: _Blame) -> str:
    """'rank 1 is blamed (asked for [3] Float).'"""
    ranks = sorted(blame.culprits)
    doing = dict.fromkeys(blame.doing[rank] for rank in ranks if rank in blame.doing)
    said = f" ({'; '.join(list(doing)[:2])})" if doing else ""
    return f"{ranks_words(ranks)} {verb(ranks, 'is', 'are')} blamed{said}."


def _bystander(facts: Facts, rank: int, behind_it: _Blame | None) -> Explanation:
    last = lookup.last_call(facts, rank)
    waited_for = [call for call in facts.waits.pending if rank in call.lacking]
    doubtful = [call for call in facts.waits.pending if rank in call.unknown]
    lines = [f"Rank {rank} waits in no call."] if last is None or not last["open"] else []
    if last is not None:
        how = (
            "has not ended; which of its peers' calls belong to it cannot be told"
            if last["open"]
            else "has ended"
        )
        lines.append(f"Its last call, the {lookup.call_words(facts, last)}, {how}.")
    if waited_for:
        lines.append(f"It has not issued the {call_phrase(facts, waited_for[0])} that others wait in.")
    elif doubtful:
        lines.append(
            f"Whether it came to the {call_phrase(facts, doubtful[0])} that others wait in cannot be told, so it is "
            "not blamed."
        )
    else:
        lines.append("Nobody waits for it, so it is not blamed.")
    if behind_it is not None:
        lines.append(f"Of those that its group waits for, {_blamed(behind_it)}")
    return Explanation(rank, "bystander", tuple(lines), tuple([lookup.evidence_of(last)] if last else []))


def _unseen(facts: Facts, rank: int) -> Explanation:
    belongs = [g for g, members in facts.membership.members.items() if rank in members]
    if not belongs:
        line = f"Rank {rank} is in no group of this job."
        return Explanation(rank, "unseen", (line,), ())
    why = reasons(facts, [rank])[rank]
    seen = "is not seen" if why.left_a_file else "left no dump"
    lines = [f"Rank {rank} {seen}: {why.words}. That it is not seen does not make it guilty."]
    waited_for = [call for call in facts.waits.pending if rank in call.unknown]
    if waited_for:
        lines.append(
            f"{upper(who_waits(in_calls(facts, waited_for[0])))}; whether rank {rank} has joined it, only its dump "
            "could tell."
        )
    return Explanation(
        rank,
        "unseen",
        tuple(lines),
        (*why.evidence, *_evidence(facts, [(c.waiting[0], c) for c in waited_for[:1]])),
    )
