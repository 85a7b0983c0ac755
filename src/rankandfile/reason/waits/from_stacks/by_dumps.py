"""What the dumps of some say of where all stand: whom alone the others lack, and which groups there are.

Of whoever left no dump, its stack tells where it is; that the others wait for it, and for how long, their calls tell.
"""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.waits.in_words import first_pending
from rankandfile.reason.waits.patience import Patience, patience
from rankandfile.reason.waits.seen_elsewhere import is_elsewhere

_TOO_LONG = (Patience.OVER, Patience.LATE)
#: Where more dumps are lost than that, nobody is the odd one out.
_MOST = 64


def are_of_one_group(facts: Facts) -> bool | None:
    """Whether the job has but the one group of all ranks, as its dumps have it; None where they do not tell."""
    if not facts.call_table.calls.height:
        return None
    one = [*facts.membership.members.values()] == [list(range(world_of(facts)))]
    # A group that only they have who left no dump is in none.
    return one and not facts.code.makes_groups


def lacks_only(facts: Facts, ranks: tuple[int, ...], waiting: tuple[int, ...]) -> str:
    """Where just these, without a dump, are what the calls of all others lack, and each stands elsewhere: how
    long those have waited, 'its call has waited much longer than any pause between two calls before it'; else empty."""
    for end in facts.wait_ends if len(ranks) <= _MOST else ():
        if end.kind == "missing" and end.ranks == ranks and {*waiting} <= {*end.victims}:
            call = first_pending(facts, end)
            if call is None or not all(is_elsewhere(facts, call, rank) for rank in ranks):
                return ""
            waited = patience(facts, call)
            return f"their call has waited {waited.value}" if waited in _TOO_LONG else ""
    return ""
