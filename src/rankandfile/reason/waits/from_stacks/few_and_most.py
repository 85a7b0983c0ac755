"""Of ranks that all wait in two calls of which neither can end, the few are out of line where nothing tells of groups.

What few did otherwise than all others is more likely theirs: one rank took a branch, or swallowed an exception. Where
the job has smaller groups that is not so: who waits in a call of one may have been left alone by a mate elsewhere.
"""

from __future__ import annotations

from .kinds import known, rooted
from .places import StackDivergence
from .where_all_stand import WhereAllStand


def most_are_in_one_call(of: WhereAllStand, divergence: StackDivergence) -> bool:
    """Two thirds or more wait in one call of all ranks, the others in one other, as far as anything tells.

    Not where one gives or gets, as who is past that owes nothing; nor in the making of a group or in a transfer, where
    a mate among the others may be at fault.
    """
    if len(divergence.usual) != 1 or len(divergence.odd) != 1 or of.transfers or not of.no_smaller_group_told:
        return False
    few, most = divergence.odd[0], divergence.usual[0]
    if 2 * len(few.ranks) > len(most.ranks):
        return False
    return all(
        known(side.stand) and side.stand.activity != "init" and not rooted(side.stand) for side in (few, most)
    )
