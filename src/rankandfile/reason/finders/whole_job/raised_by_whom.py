"""An exception that ended its process and that no line gives to a rank: whose it is, by where the ranks are now.

MPI's programs end in its tear-down, which waits for the others; and of ranks that all say what they do, the one that
raised says no more. Where exactly one rank fits, it is that one's.
"""

from __future__ import annotations

import re

from rankandfile.model.diagnosis import Missing
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.finders.whole_job.single_lines import Unclaimed, unclaimed
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FEWEST = 3
_WAITS = ("collective", "p2p", "init")


@finder(precedence=35, of="job")
def raised_by_whom(facts: Facts, _: WaitEnd) -> Finding | None:
    if facts.call_table.calls.height or facts.accounts.raised:
        return None
    ended = [one for one in unclaimed(facts) if one.cause == "raised" and one.uncaught]
    if len({one.words for one in ended}) != 1:
        return None
    leaving, silent = _leaving(facts), _silent(facts)
    rank = leaving if leaving is not None else silent
    if rank is None or (leaving is not None and silent is not None and leaving != silent):
        return None
    return _finding(facts, ended[0], rank, by_stack=leaving is not None)


def _leaving(facts: Facts) -> int | None:
    """The one rank whose stack is in the tear-down, while others' are in calls that wait for it."""
    away = [rank for rank, stand in facts.hosts.items() if stand.activity == "teardown"]
    others = [stand for rank, stand in facts.hosts.items() if rank not in away]
    waits = any(stand.activity in _WAITS for stand in others)
    # A call into C leaves no frame; but no job at work has all its ranks in one place while one of them leaves.
    together = len(others) > 1 and len({(s.location.file, s.location.line) for s in others}) == 1
    return away[0] if len(away) == 1 and (waits or (together and not any(s.moving for s in others))) else None


def _silent(facts: Facts) -> int | None:
    """The one rank that did not come to say what all others said last."""
    last = {rank: _NUMBER.sub("#", line) for rank, line in facts.accounts.last_lines.items()}
    shapes = list(last.values())
    odd = [rank for rank, shape in last.items() if shapes.count(shape) == 1]
    whole = len(last) == world_of(facts) > _FEWEST and len(set(shapes)) == 2
    return odd[0] if whole and len(odd) == 1 else None


def _finding(facts: Facts, one: Unclaimed, rank: int, *, by_stack: bool) -> Finding:
    name = ranks_words([rank])
    stand = facts.hosts.get(rank)
    why = (
        f"Its line names no rank; {name} alone is on its way out ({stand.words})"
        if by_stack and stand is not None
        else f"Its line names no rank; {name} alone did not come to say what all others said last"
    )
    return Finding(
        cause="raised",
        confidence="supported",
        sentence=f"{name[:1].upper()}{name[1:]} raised {one.raised}. {why}, and the others wait for it.",
        culprits=(rank,),
        doing={rank: f"raised {one.raised}"},
        victims=tuple(sorted(set(range(world_of(facts))) - {rank})),
        location=one.place,
        evidence=(one.evidence, *(stand.evidence[:1] if stand is not None else ())),
        contradicted_by="a line of another rank that raised it",
        alternatives=(
            perhaps(
                "raised",
                "It may be another rank's exception.",
                decided_by="the output of each rank apart (mpirun --tag-output, srun -l)",
            ),
        ),
        missing=(
            Missing(
                what="whose line it is", how="the output of each rank apart (mpirun --tag-output, srun -l)"
            ),
        ),
        unadvised=("anti_advice", "probes"),
    )
