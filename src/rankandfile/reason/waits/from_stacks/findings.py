"""What is found by where the ranks stand: each way of finding is asked in turn, and the first that tells is taken."""

from __future__ import annotations

from collections.abc import Callable

from rankandfile.model.heuristics import Heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.verdict.moved import over_by_dumps
from rankandfile.reason.waits.from_logs.before_it import with_what_came_before

from .all_held import all_held
from .all_make_a_group import all_make_a_group
from .all_receive import all_in_turn, all_receive, all_send
from .another_way import went_another_way
from .ended import ended
from .held_up import held_up
from .left_running import left_running
from .not_there import not_there
from .other_roots import other_roots
from .set_up_anew import set_up_anew
from .undecided import undecided
from .where_all_stand import WhereAllStand
from .while_others_run import while_others_run

_STACKS = Heuristic("where all stand", "the odd one out among stacks of equals is out of line")


def by_stacks(facts: Facts) -> list[Finding]:
    """The best that the stacks tell; nothing where none was taken, or nobody waits for anybody."""
    if not facts.hosts:
        return []
    all_of_them = WhereAllStand(facts)
    if not all_of_them.overdue and set(all_of_them.waiting) & over_by_dumps(facts):
        return []
    looks: tuple[Callable[[WhereAllStand], Finding | None], ...] = (
        held_up,
        left_running,
        set_up_anew,
        ended,
        all_receive,
        all_send,
        all_in_turn,
        not_there,
        other_roots,
        went_another_way,
        while_others_run,
        all_held,
        all_make_a_group,
        undecided,
    )
    found = next((found for look in looks if (found := look(all_of_them)) is not None), None)
    if found is None or _STACKS.off:
        return []
    found = with_what_came_before(facts, found)
    # That ranks move says nothing beside records of what they called.
    return [found] if found.hang or not facts.call_table.calls.height else []
