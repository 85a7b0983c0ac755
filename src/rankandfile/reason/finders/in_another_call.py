"""Everybody else waits in one call; the rank without a dump sits in another, by its stack.

It counts only where all others are in the very same call and stand where it was issued. Then it cannot be that the
rank has joined and gone on, as the others would have: it took another path. Which call of the program its own is, as
against theirs, says how.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Cohort
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.calls.requests import Request, as_call, claims_at, history, majority, relation
from rankandfile.reason.document import diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.activity import CodePlace
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import call_phrase, waiting_sentence
from rankandfile.reason.words import upper


@finder(precedence=180)
@heuristic("waits elsewhere", "a rank without a dump whose stack is in another call took another path")
def in_another_call(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "missing" or len(wait_end.ranks) != 1 or len(wait_end.pending) != 1:
        return None
    rank, call = wait_end.ranks[0], facts.waits.pending[wait_end.pending[0]]
    stand = facts.hosts.get(rank)
    if stand is None or stand.activity != "collective" or call.slot is None or call.lacking:
        return None
    if {rank, *call.waiting} != set(range(facts.case.world_size or 0)):
        return None
    claims = claims_at(facts, call.group, call.slot)
    its = _claim(stand)
    if its.site is None or not majority([claims, [its]]) or not _all_there(facts, call, claims):
        return None
    if any(claim.site == its.site for claim in claims):
        return None
    return _finding(facts, wait_end, call, claims[0], its, stand)


def _all_there(facts: Facts, call: Pending, claims: list[Request]) -> bool:
    """Every host that waits stands on the line that issued the call: none of them has gone on."""
    sites = {claim.rank: claim.site for claim in claims}
    return all(
        (there := facts.hosts.get(rank)) is not None and sites.get(rank) == _claim(there).site
        for rank in call.waiting
    )


def _claim(stand: Stand) -> Request:
    at = stand.location
    site = (lookup.short_file(at.file), at.line) if at.line is not None else None
    op = contract_of(stand.op).op
    return Request(
        stand.rank, (op, None), site, CodePlace(at.function or "", at.file, at.line or 0), stand.evidence[0]
    )


def _finding(
    facts: Facts, wait_end: WaitEnd, call: Pending, expected: Request, its: Request, stand: Stand
) -> Finding:
    rank = its.rank
    how = relation(history(facts, call.group, call.waiting), expected, its)
    return Finding(
        # Nothing like it in the others' past: it may lie behind their loop, and then the rank has left that.
        cause="extra_collective" if how == "extra" else "skipped_collective",
        confidence="supported",
        sentence=told(
            f"{upper(f'rank {rank}')} left no dump; its stack is {stand.words}, while all others are in the "
            f"{call_phrase(facts, call)}. It took another path.",
            waiting_sentence(facts, wait_end, (rank,)),
        ),
        culprits=(rank,),
        doing={rank: stand.words},
        divergence=diverged(
            facts,
            call.group,
            seq=call.slot,
            kind="substituted",
            cohorts=[
                Cohort(ranks=format_ranks(call.waiting), call=as_call(expected, call.slot)),
                Cohort(ranks=str(rank), call=as_call(its, None)),
            ],
            exact=False,
        ),
        location=stand.location,
        evidence=(expected.evidence, *stand.evidence),
        contradicted_by=f"a dump of rank {rank} in which it has joined the call",
        alternatives=tuple(
            perhaps(cause, sentence, [rank], decided_by=decided)
            for cause, sentence, decided in (
                ("raised", "An exception may have led it there, past the others' call.", "its log"),
                (
                    "extra_collective",
                    "Its call may be one that the others do not make.",
                    "the source around it",
                ),
            )
            if not (how == "extra" and cause == "extra_collective")
        ),
    )
