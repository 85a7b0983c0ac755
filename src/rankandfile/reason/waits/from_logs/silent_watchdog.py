"""A rank whose log is here without a word of its watchdog, and of which alone nobody got a stack.

All others of the group gave up on one call. A watchdog speaks whatever the program does: one that is silent runs in no
process any more, in one that is stopped, or in one that waits in nothing, and none of these comes to the call.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story
from rankandfile.reason.waits.graph import Pending, WaitEnd

from .waits import LoggedWaits

_DOING = (
    "of it alone there is no stack, and its log is here without a word of its watchdog: its process is gone, or "
    "stopped, or waits in no call"
)
_NOTHING = "of it alone there is neither a stack nor a line: its process may be gone, or stopped"


@heuristic(
    "silent watchdog",
    "who alone says nothing of a watchdog, and left no stack, where all others did is held up",
    otherwise={},
)
def silent_watchdog(facts: Facts, logged: LoggedWaits, wait_end: WaitEnd, call: Pending) -> dict[int, Story]:
    """By rank; empty unless everything else of a group of known members is there."""
    group = logged.groups[call.group]
    if wait_end.kind != "missing" or not (group.whole or group.told) or call.slot is None:
        return {}
    members = {*group.members}
    if {*call.waiting} | {*wait_end.ranks} != members or len(wait_end.ranks) > len(call.waiting):
        return {}
    spoke = {*facts.accounts.of_rank, *facts.accounts.gave_up, *facts.accounts.echoes}
    has_log = {*facts.case.logs.filter(pl.col("rank").is_not_null())["rank"].to_list()}
    if not {*call.waiting} <= facts.hosts.keys() or facts.accounts.left_out or facts.case.unlooked.height:
        return {}
    if any(rank in facts.hosts or rank in spoke for rank in wait_end.ranks):
        return {}
    return {rank: _story(facts, rank, rank in has_log) for rank in wait_end.ranks}


def _story(facts: Facts, rank: int, has_log: bool) -> Story:
    last = facts.accounts.last_lines.get(rank)
    return Story(
        cause="undetermined",
        # Of whom there is no log either, the files may only not have been collected.
        confidence="supported" if has_log else "hypothesis",
        doing=(_DOING if has_log else _NOTHING) + (f'; its last line is "{last[:120]}"' if last else ""),
        evidence=(),
        absence=True,
    )
