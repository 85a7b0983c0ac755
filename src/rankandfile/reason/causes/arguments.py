"""What the causes share in which all ranks made the same call and asked for different things."""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Alternative
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.calls.contracts import contract_of
from rankandfile.reason.divergence.point import DivergencePoint
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper

from . import shown


def difference(facts: Facts, p: DivergencePoint) -> str | None:
    """size, dtype or split: what the two sides of an argument departure disagree on."""
    if p.kind != "argument" or p.expected is None or p.came is None:
        return None
    ours, theirs = (facts.call_table.terms[row["terms"]] for row in (p.expected, p.came))
    if ours.op != theirs.op:
        return "op"
    if contract_of(ours.op).agree == "sums" and ours.dtype == theirs.dtype:
        return "split"
    return "size" if ours.size != theirs.size else "dtype"


def finding(facts: Facts, wait_end: WaitEnd, p: DivergencePoint, cause: str, what: str) -> Finding:
    assert p.expected is not None and p.came is not None
    ours, theirs = lookup.size_words(facts, p.expected), lookup.size_words(facts, p.came)
    where = p.place
    call = lookup.call_words(facts, p.came)
    one, other = p.normal, p.other
    if p.culprits:
        sentence = (
            f"{upper(ranks_words(other))} called the {call} with {what} {theirs} where "
            f"{ranks_words(one)} called it with {ours}{f', in {where}' if where else ''}."
        )
    else:
        sentence = (
            f"{upper(ranks_words(one))} called the {call} with {what} {ours} and {ranks_words(other)} with {theirs}"
            f"{f', in {where}' if where else ''}; which of them is right the calls do not tell."
        )
    waits = waiting_sentence(facts, wait_end, p.culprits)
    several = not p.culprits and _of_several_sizes(facts, p)
    if several:
        sentence += (
            " From this place each rank makes calls of several sizes in turn: they are not at the same one."
        )
    return Finding(
        cause="rank_conditional" if several else cause,
        confidence="supported" if several else "established",
        sentence=f"{sentence} {waits}".strip(),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"asked for {theirs}"),
        divergence=shown.divergence(facts, p, "argument", detail=True),
        location=lookup.location_of(facts, p.came),
        evidence=shown.evidence(facts, p),
        contradicted_by="a recorder that logged the sizes of another tensor than the one sent",
        alternatives=() if p.culprits else _both(p, cause),
        explains=len(wait_end.victims),
    )


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
        Alternative(
            cause=cause,
            confidence="hypothesis",
            sentence=f"{upper(ranks_words(side))} asked for the wrong thing.",
            culprits=format_ranks(side),
            decided_by="the source, or an earlier step of the same loop",
        )
        for side in (p.normal, p.other)
    )
