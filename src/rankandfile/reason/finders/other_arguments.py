"""What the causes share in which all ranks made the same call and asked for different things."""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.divergence import in_document
from rankandfile.reason.divergence.divergence_point import DivergencePoint, who_made_it
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper, verb


def other_arguments(facts: Facts, wait_end: WaitEnd, cause: str, what: str) -> Finding | None:
    """All ranks made the same call, and differ in `what` they asked for: the size or the dtype."""
    p = find_divergence(facts, wait_end)
    if p is None or _difference(facts, p) != what:
        return None
    return _finding(facts, wait_end, p, cause, what)


def _difference(facts: Facts, p: DivergencePoint) -> str | None:
    """size, dtype or split: what the two sides disagree on."""
    if p.kind != "argument" or p.expected is None or p.came is None:
        return None
    ours, theirs = (facts.call_table.terms[row["terms"]] for row in (p.expected, p.came))
    if ours.op != theirs.op:
        return "op"
    if contract_of(ours.op).agree == "sums" and ours.dtype == theirs.dtype:
        return "split"
    return "size" if ours.size != theirs.size else "dtype"


def _finding(facts: Facts, wait_end: WaitEnd, p: DivergencePoint, cause: str, what: str) -> Finding:
    p = who_made_it(facts, p)
    assert p.expected is not None and p.came is not None
    ours, theirs = lookup.size_words(facts, p.expected), lookup.size_words(facts, p.came)
    where = p.place
    call = lookup.call_words(facts, p.came)
    one, other = p.normal, p.other
    if p.culprits:
        sentence = (
            f"{upper(ranks_words(other))} called the {call} with {what} {theirs} where "
            f"{ranks_words(one)} called it with {ours}{f', {where}' if where else ''}."
        )
    else:
        sentence = (
            f"{upper(ranks_words(one))} called the {call} with {what} {ours} and {ranks_words(other)} with {theirs}"
            f"{f', {where}' if where else ''}; which of them is right the calls do not tell."
        )
    even = len(p.other) >= len(p.normal)
    if p.culprits and even:
        sentence += f" In the round before, all asked there for what {ranks_words(one)} {verb(one, 'asks', 'ask')} for."
    waits = waiting_sentence(facts, wait_end, p.culprits)
    several = not p.culprits and _of_several_sizes(facts, p)
    if several:
        sentence += (
            " From this place each rank makes calls of several sizes, one after the other: they may not be at the "
            "same one."
        )
    return Finding(
        cause="rank_conditional" if several else cause,
        confidence="supported" if several or even or p.by_stacks else "established",
        sentence=told(sentence, waits),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"asked for {theirs}"),
        divergence=in_document.divergence(facts, p, "argument", detail=True),
        location=lookup.location_of(facts, p.came),
        evidence=in_document.evidence(facts, p),
        contradicted_by="a recorder that logged the sizes of another tensor than the one sent",
        alternatives=(*_a_call_ahead(p), *(() if p.culprits else _both(p, cause))),
    )


def _a_call_ahead(p: DivergencePoint) -> tuple[Alternative, ...]:
    if not p.by_stacks:
        return ()
    words = "The line may make several calls, one after the other, and one side be ahead of the other."
    return (perhaps("skipped_collective", words, p.other, decided_by="the source around the call"),)


def _of_several_sizes(facts: Facts, p: DivergencePoint) -> bool:
    """Whether this place made calls of different sizes before: then one side may be a call ahead of the other."""
    assert p.expected is not None and p.came is not None
    if p.expected["stack"] is None or p.expected["stack"] != p.came["stack"] or p.slot is None:
        return False
    calls = facts.call_table.of_group(p.group).filter(
        (pl.col("slot") < p.slot) & (pl.col("stack") == p.expected["stack"])
    )
    return calls["terms"].n_unique() > 1


def _both(p: DivergencePoint, cause: str) -> tuple[Alternative, ...]:
    return tuple(
        perhaps(
            cause,
            f"{upper(ranks_words(side))} asked for the wrong thing.",
            side,
            decided_by="the source, or an earlier step of the same loop",
        )
        for side in (p.normal, p.other)
    )
