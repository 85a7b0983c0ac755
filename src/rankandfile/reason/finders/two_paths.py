"""Ranks took two paths, and nothing says which of them is the normal one: both are named, nobody is blamed.

Where the stacks of the two calls part in one function, at least that is known: something there led them apart.
"""

from __future__ import annotations

from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.divergence import in_document
from rankandfile.reason.divergence.divergence_point import DivergencePoint
from rankandfile.reason.divergence.find import find_divergence
from rankandfile.reason.divergence.in_all_records import as_before
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper, verb

_ONE_SIDE = {
    "skipped": ("extra_collective", "skipped_collective"),
    "extra": ("skipped_collective", "extra_collective"),
}


def _balance(p: DivergencePoint) -> str:
    if len(p.normal) == len(p.other):
        return "As many ranks went one way as the other"
    return f"{len(p.normal)} against {len(p.other)} is no majority to go by"


def _past(facts: Facts, p: DivergencePoint) -> str:
    before = as_before(facts, p)
    if not before:
        return ", and no earlier round shows which way is right"
    return f". {before}; that does not say whether it should be again"


@finder(precedence=270)
def two_paths(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.culprits or p.kind == "argument":
        return None
    rows = (p.expected, p.came)
    calls = [f"the {lookup.call_words(facts, row)}" if row else "no call" for row in rows]
    sides = (p.normal, p.other)
    one, other = (
        lookup.made_alike(facts, side, r) if r else side for side, r in zip(sides, rows, strict=True)
    )
    rest = tuple(sorted({*p.normal, *p.other} - {*one, *other}))
    another = f"; {ranks_words(rest)} made {verb(rest, 'another call', 'other calls')}" if rest else ""
    where = p.place
    sentence = (
        f"{upper(ranks_words(one))} made {calls[0]}{f', {where},' if where else ''} where "
        f"{ranks_words(other)} made {calls[1]}{another}. {_balance(p)}{_past(facts, p)}."
    )
    if p.against is not None:
        where = "behind" if p.kind == "skipped" else "ahead"
        sentence = f"{in_document.since_before(facts, p, where)} {_balance(p)}."
    ways = in_document.ways_of(facts, p) if p.kind != "swapped" else None
    causes = _ONE_SIDE.get(p.kind, ("different_collective", "different_collective"))
    return Finding(
        cause="rank_conditional" if ways is not None else "undetermined",
        confidence="supported" if ways is not None else "hypothesis",
        sentence=told(sentence, in_document.different_ways(ways), waiting_sentence(facts, wait_end, ())),
        divergence=in_document.divergence(facts, p, p.kind),
        location=lookup.location_of(facts, p.expected or p.came),
        evidence=in_document.evidence(facts, p),
        contradicted_by="the source, or a longer history",
        alternatives=tuple(
            perhaps(
                cause,
                f"{upper(ranks_words(side))} took the wrong way.",
                side,
                decided_by="the source around the two calls",
            )
            for cause, side in zip(causes, (p.normal, p.other), strict=True)
        ),
    )
