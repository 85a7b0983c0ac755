"""Members of one collective that took different ranks for its root, by their records or by their stacks."""

from __future__ import annotations

from rankandfile.reason import lookup
from rankandfile.reason.document import cohort, diverged, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.kept_roots import shown_by
from rankandfile.reason.ranks.named_roots import is_further_on
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.waits.in_words import call_phrase
from rankandfile.reason.words import ranks_words, upper, verb

from .named_roots import each_for_another, odd_about_root

_CAUSE = "root_mismatch"


def differently_named(
    facts: Facts, call: Pending, named: dict[int, tuple[int, ...]], recorded: bool
) -> Finding:
    """That they disagree is shown. Who is wrong is, where all but one agree."""
    by = "their records" if recorded else "the arguments in their stacks"
    takers = () if recorded else tuple(r for ranks in named.values() for r in ranks)
    later = tuple(r for r in takers if is_further_on(facts, call, r))
    kept = tuple(r for r in takers if r not in call.waiting and r not in later)
    if kept:
        by = "the arguments and variables in their stacks"
    # Who is done with it waits for nobody.
    each_other = () if kept else each_for_another(facts.membership.members[call.group], named)
    odd = each_other or odd_about_root(named)
    told = "; ".join(
        f"{ranks_words(ranks)} {verb(ranks, 'takes', 'take')} {of} for the root"
        for of, ranks in named.items()
    )
    further = (
        f" {upper(ranks_words(later))} {verb(later, 'is', 'are')} in a later one of the same line by now."
        if later
        else ""
    )
    if kept:
        further += (
            f" {upper(ranks_words(kept))} {verb(kept, 'is', 'are')} done with it, and still in the function that "
            "handed the root over."
        )
    rows = {
        ranks: row
        for ranks in named.values()
        if (row := lookup.call_at(facts, ranks[0], call.group, call.slot or 0))
    }
    stacks = [
        shown.evidence
        if rank in kept and (shown := shown_by(facts, rank))
        else facts.hosts[rank].asked.evidence
        for ranks in named.values()
        for rank in ranks[:2]
        if not recorded
    ]
    witness = (odd or call.waiting)[0]
    return Finding(
        cause=_CAUSE,
        confidence="supported" if odd else "established",
        sentence=(
            f"In the {call_phrase(facts, call)}, by {by}, {told}."
            + further
            + (
                " None of them takes itself for it: each waits for what another of them is to send."
                if each_other
                else ""
            )
            + ("" if odd else " Which of them was meant, the calls do not tell.")
        ),
        culprits=odd,
        doing=dict.fromkeys(odd, "names another root than the other members"),
        divergence=diverged(
            facts,
            call.group,
            seq=next((row["seq"] for row in rows.values()), call.slot),
            kind="argument",
            cohorts=[
                cohort(facts, ranks, rows[ranks], f"root {of}")
                for of, ranks in named.items()
                if ranks in rows
            ],
        ),
        location=lookup.location_of(facts, lookup.call_at(facts, witness, call.group, call.slot or 0)),
        evidence=(*stacks, *(lookup.evidence_of(row) for row in rows.values())),
        contradicted_by="a later call of the same line in which all name the same root"
        if recorded
        else "a later snapshot in which all name the same root",
        alternatives=()
        if odd
        else tuple(
            perhaps(
                _CAUSE,
                f"{ranks_words(ranks).capitalize()} {verb(ranks, 'names', 'name')} the wrong root.",
                ranks,
                decided_by="the source of the argument",
            )
            for ranks in list(named.values())[:4]
        ),
    )
