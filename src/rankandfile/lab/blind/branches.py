"""What a diagnosis says of tests, held against the log of calls and the text of the program.

The log has the frames that each call was made from. The call at which it shows that ranks parted must not be one from
behind the outcome that the rank is said not to have had; nor may it be said to have been seen on a line there. Calls
before that one, since the ranks were last in step, bear a claim out if they come from behind its outcome alone. What
was found by a rank that made no call behind the test, or the same one either way, the log cannot tell: that is no
statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab.calls import Call, CallLog, Group
from rankandfile.lab.truth import long_ranks
from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import Call as Said
from rankandfile.model.diagnosis import Divergence, Verdict

from .arms import Arms, arms
from .named_file import named_file


class Branch(NamedTuple):
    rank: int
    claim: TookBranch
    so: bool | None
    """None: the log cannot tell."""


def branches(verdict: Verdict, log: CallLog, src: Path) -> Iterator[Branch]:
    """What is said of each rank that is said to have gone one way at a test."""
    for claim in verdict.claims:
        if isinstance(claim, TookBranch):
            found = _arms(claim, src)
            for rank in long_ranks(claim.ranks):
                so = None if found is None else _so(claim, *found, _meanwhile(verdict.divergence, rank, log))
                yield Branch(rank, claim, so)


def _arms(claim: TookBranch, src: Path) -> tuple[str, Arms] | None:
    """The file as the log names it, and what is behind either outcome."""
    name = named_file(claim.file, src)
    if name is None:
        return None
    found = arms((src / name).read_text(encoding="utf-8", errors="replace"), claim.line)
    return None if found is None else (name, found)


def _so(claim: TookBranch, file: str, behind: Arms, made: list[Call]) -> bool | None:
    if claim.shown_in is None and claim.shown_by in (behind.false if claim.truth else behind.true):
        # Where it is said to have been seen is where it cannot have come.
        return False
    ways = [_way(call, file, behind) for call in made]
    if ways and ways[-1] is not None:
        return ways[-1] == claim.truth
    # A round before, or a call on the way, may have gone the other one.
    return True if set(ways) - {None} == {claim.truth} else None


def _way(call: Call, file: str, behind: Arms) -> bool | None:
    """Behind which outcome it was made; None: behind neither, or one around the other."""
    lines = {line for where, line, _ in call.stack if where == file}
    true, false = bool(lines & behind.true), bool(lines & behind.false)
    return None if true == false else true


def _meanwhile(divergence: Divergence | None, rank: int, log: CallLog) -> list[Call]:
    """The rank's calls behind the last one before the parting, up to the one at which it shows; none where the log
    numbers calls otherwise than the recorders did."""
    cohort = (
        next((one for one in divergence.cohorts if rank in long_ranks(one.ranks)), None)
        if divergence
        else None
    )
    group = _group(divergence.group, rank, log) if divergence is not None else None
    if divergence is None or divergence.seq is None or cohort is None or group is None:
        return []
    own = [call for call in log.calls if call.rank == rank]
    before = max((call.n for call in log.of(group, rank) if call.seq < divergence.seq), default=-1)
    if cohort.call is None:
        return [call for call in own if call.n > before]
    there = _group(cohort.call.group or divergence.group, rank, log)
    until = (
        [c.n for c in log.of(there, rank) if c.seq == cohort.call.seq and _is(c, cohort.call)]
        if there
        else []
    )
    return [call for call in own if before < call.n <= until[0]] if until else []


def _is(made: Call, said: Said) -> bool:
    """Whether it is the call by its operation, and its line where that is the program's."""
    logged, named = made.op.replace("_", ""), said.op.replace("_", "").lower()
    if logged not in named and named not in logged:
        return False
    own = [line for file, line, _ in made.stack if f"/{said.file}".endswith(f"/{file}")]
    return not own or said.line in own


def _group(named: str, rank: int, log: CallLog) -> Group | None:
    words = {named, named.split(" ")[0], named.split(":")[0]}
    found = [group for group in log.groups if words & {group.name, group.desc} and rank in group.ranks]
    return found[0] if len(found) == 1 else None
