"""An all_to_all in which one gives and takes another amount than the others, and all had as much each time before."""

from __future__ import annotations

from rankandfile.reason import lookup
from rankandfile.reason.calls.exchanges.equal_slices import has_another_amount
from rankandfile.reason.document import cited
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.another_amount import other_amounts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import first_pending
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=49)
def unequal_slices(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    call = first_pending(facts, wait_end) if wait_end.kind in ("joined", "behind") else None
    slot = call.slot if call is not None else None
    other = has_another_amount(facts, call.group, slot) if call is not None and slot else None
    if call is None or slot is None or other is None:
        return None
    rest = tuple(rank for rank in facts.membership.members[call.group] if rank not in other.ranks)
    row, theirs = (lookup.call_at(facts, ranks[0], call.group, slot) for ranks in (other.ranks, rest))
    if row is None or theirs is None:
        return None
    return Finding(
        cause="size_mismatch",
        confidence="supported",
        sentence=(
            f"{upper(_has(other.ranks, other.amount))} in the {lookup.call_words(facts, row)}, where "
            f"{_has(rest, other.usual)}. In the {other.before} calls of this line before, all gave and took as much "
            "as each other."
        ),
        culprits=other.ranks,
        doing=dict.fromkeys(
            other.ranks, f"gives and takes {other.amount:,} rows, the others {other.usual:,}"
        ),
        divergence=other_amounts(facts, call.group, slot, other.ranks, row),
        location=lookup.location_of(facts, row),
        evidence=cited(row, theirs),
        contradicted_by="split sizes in a log that fit each other between all pairs",
    )


def _has(ranks: tuple[int, ...], amount: int) -> str:
    return f"{ranks_words(ranks)} {verb(ranks, 'gives and takes', 'give and take')} {amount:,} rows"
