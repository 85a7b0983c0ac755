"""What the dumps of some say of where all stand: that calls have waited for too long, and of which group all calls are.

Of whoever left no dump, its stack tells where it is; that the others wait for it, and for how long, their calls tell.
"""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.waits.in_words import first_pending
from rankandfile.reason.waits.patience import MUCH_LONGER, Patience, longest_pause_ns, patience
from rankandfile.reason.waits.seen_elsewhere import is_in_another

_TOO_LONG = (Patience.OVER, Patience.LATE)
#: Where dumps of many ranks wait in many calls, the first tell as much as all.
_MOST_ASKED = 32


def waited_too_long(facts: Facts) -> str:
    """'calls have waited much longer than any pause between two calls before it'; empty where none has."""
    waited = (patience(facts, call) for call in facts.waits.pending[:_MOST_ASKED])
    found = next((one for one in waited if one in _TOO_LONG), None)
    return f"the calls at hand have waited {found.value}" if found else ""


def is_usual(facts: Facts, apart_ns: int) -> bool:
    """Whether the job, as it is recorded, has made pauses between two calls that are near as long as that."""
    return apart_ns < MUCH_LONGER * longest_pause_ns(facts)


def are_of_one_group(facts: Facts) -> bool | None:
    """Whether the job has but the one group of all ranks, as its dumps have it; None where they do not tell."""
    if not facts.call_table.calls.height:
        return None
    return [*facts.membership.members.values()] == [list(range(world_of(facts)))]


def lacks_only(facts: Facts, ranks: tuple[int, ...], waiting: tuple[int, ...]) -> bool:
    """Whether just these, without a dump, are what the calls of all others lack, and each stands in another call."""
    for end in facts.wait_ends:
        if end.kind == "missing" and end.ranks == ranks and {*waiting} <= {*end.victims}:
            call = first_pending(facts, end)
            return call is not None and all(is_in_another(facts, call, rank) for rank in ranks)
    return False
