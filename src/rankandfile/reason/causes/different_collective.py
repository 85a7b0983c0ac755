"""At one point a rank made another collective than its peers.

Where the ways to the two calls part within one function, a condition or a loop of that function led the ranks along
different ways: that says more than that their calls differ.
"""

from __future__ import annotations

from rankandfile.model.advice import AGREE, FIRST_LOGGER, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative
from rankandfile.model.sentence import told
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import (
    DivergencePoint,
    Facts,
    WaitEnd,
    find_divergence,
    in_all_records,
    in_document,
    lookup,
    perhaps,
    waiting_sentence,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="different_collective",
    family="paths",
    place=30,
    meaning="Ranks made different collectives at the same point.",
    help="The calls pair up by their number, not by what they are: one rank reduces, another broadcasts, "
    "and neither ends. Look for a branch with a collective in each arm.",
    remedies=(AGREE,),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="made another collective",
    title="Two calls where one was meant",
    page="""
## How it comes about

Each arm of a branch has a call, and ranks are on different arms:

```python
if len(items) < 2:
    total = sum(gather(items))
else:
    total = reduce(items)
```

From logs this is all that can be said. With dumps and source the condition itself is known, and the verdict is more
often [`rank_conditional`](rank_conditional.md), with this cause as the alternative. Both are fixed in one place: the
branch.
""",
    scenario="other_reduction_for_short_lists",
    shown_from="evidence/logs",
)


@finder(precedence=140)
def another_call(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    p = find_divergence(facts, wait_end)
    if p is None or p.kind != "substituted" or not p.culprits:
        return None
    if p.how == "left":
        return None
    came = f"the {lookup.call_words(facts, p.came)}" if p.came else "another call"
    expected = f"the {lookup.call_words(facts, p.expected)}" if p.expected else "another"
    where = p.place
    sentence = (
        f"{upper(ranks_words(p.culprits))} made {came} where {ranks_words(p.normal)} made {expected}"
        f"{f', {where}' if where else ''}."
    )
    few = _few(p)
    before = in_all_records.as_before(facts, p) if few and p.usual else ""
    if before:
        sentence += f" {before}{'; that does not say whether it should be again' * (p.usual == p.culprits)}."
    ways = in_document.ways_of(facts, p)
    block = in_document.left_block(facts, p)
    leaving = (
        f"{verb(p.culprits, 'It is', 'They are')} leaving the block of the `with` at line {block}, which the "
        "others are still in: at its end, by a return, or upon an exception."
        if block is not None
        else ""
    )
    by_condition = "early_exit" if block is not None else "rank_conditional"
    waits = waiting_sentence(facts, wait_end, p.culprits)
    return Finding(
        cause=by_condition if ways is not None and p.how != "before" else CAUSE.word,
        confidence="supported" if few or block is not None else "established",
        sentence=told(sentence, in_document.different_ways(ways), leaving, waits),
        culprits=p.culprits,
        doing=dict.fromkeys(p.culprits, f"made {came} instead"),
        divergence=in_document.divergence(facts, p, p.kind),
        location=lookup.location_of(facts, p.came),
        evidence=in_document.evidence(facts, p),
        contradicted_by="a branch on which the minority's call is the right one",
        alternatives=_alternatives(p, ways is not None, block is not None),
    )


#: So many on the way of most are more than a few against a few.
MAJORITY = 3


def _few(p: DivergencePoint) -> bool:
    return len(p.normal) + len(p.alike) < MAJORITY


def _alternatives(p: DivergencePoint, by_condition: bool, leaves: bool) -> tuple[Alternative, ...]:
    others = (
        ("raised", "An exception that nobody has printed yet may have led it out of the block.", leaves),
        ("different_collective", "The two calls may stand for each other, on two branches.", by_condition),
        (
            "extra_collective",
            "The call may be one more than its peers make, and not instead of theirs.",
            p.usual != p.culprits,
        ),
        ("early_exit", "The call may lie after a loop that the others are still in.", p.how == "behind"),
    )
    decided_by = "the calls that would follow it, or the source around it"
    found = [
        perhaps(cause, words, p.culprits, decided_by=decided_by)
        for cause, words, applies in others
        if applies
    ]
    if p.usual == p.culprits and _few(p):
        # Who did as in the rounds before may have been right, be it alone.
        those = f"{upper(ranks_words(p.normal))} may have"
        theirs = (
            ("extra_collective", "made a call too many"),
            ("early_exit", "left a loop that it is still in"),
        )
        found += [perhaps(cause, f"{those} {did}.", p.normal, decided_by=decided_by) for cause, did in theirs]
    return tuple(found)
