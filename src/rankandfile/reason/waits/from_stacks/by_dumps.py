"""What the dumps of some say of where all stand: that calls have waited for too long, of which group all calls are, and
that who waits does what its own rounds before did.

Of whoever left no dump, its stack tells where it is; that the others wait for it, and for how long, their calls tell.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from rankandfile.reason.divergence.earlier_rounds import due
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.waits.patience import MUCH_LONGER, Patience, longest_pause_ns, patience

_TOO_LONG = (Patience.OVER, Patience.LATE)
#: Where dumps of many ranks wait in many calls, the first tell as much as all.
_MOST_ASKED = 32
#: Of fewer calls no round can be told.
_FEWEST = 3


def waited_too_long(facts: Facts) -> str:
    """'calls have waited much longer than any pause between two calls before it'; empty where none has."""
    waited = (patience(facts, call) for call in facts.waits.pending[:_MOST_ASKED])
    found = next((one for one in waited if one in _TOO_LONG), None)
    return f"the calls at hand have waited {found.value}" if found else ""


def is_usual(facts: Facts, apart_ns: int) -> bool:
    """Whether the job, as it is recorded, has made pauses between two calls that are near as long as that."""
    return apart_ns < MUCH_LONGER * longest_pause_ns(facts)


def are_of_one_group(facts: Facts) -> bool | None:
    """Whether all groups of the job are of all ranks, as its dumps have them; None where they do not tell."""
    if not facts.call_table.calls.height:
        return None
    everyone = list(range(world_of(facts)))
    return all(members == everyone for members in facts.membership.members.values())


def lacks_only(facts: Facts, ranks: tuple[int, ...], waiting: tuple[int, ...]) -> bool:
    """Whether just these, without a dump, are what the calls of all others lack."""
    return any(
        end.kind == "missing" and end.ranks == ranks and {*waiting} <= {*end.victims}
        for end in facts.wait_ends
    )


def are_due(facts: Facts, ranks: Iterable[int]) -> bool:
    """Whether each of them goes on as its own rounds before: none of them has left anything out."""
    return all(_is_due(facts, rank) for rank in ranks)


def _is_due(facts: Facts, rank: int) -> bool:
    made = facts.call_table.of_rank(rank).sort("record")
    if made.height < _FEWEST:
        return False
    keys = made.select(pl.concat_str([pl.col("group"), pl.col("token")], separator=":").rank("dense"))
    tokens = keys.to_series().cast(pl.UInt64).to_numpy()
    expected = due(tokens[:-1], 1)
    return len(expected) > 0 and int(expected[0]) == int(tokens[-1])
