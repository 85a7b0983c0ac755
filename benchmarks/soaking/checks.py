"""What must hold of a job under `raf run`, whatever happened to it. Each check gives what does not, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from rankandfile.wire import layout
from rankandfile.wire.reading import Contents, read
from soaking.place import Outcome
from soaking.plans import GATE, Plan

#: Around which no ring can be made, so that the watcher has to say so.
NO_RINGS = ("/dev/shm full from the start", "files limited to 256 KB")
#: Around which no case can be written, or its rings are gone.
NO_CASE = ("disk full from the start", "disk full while it runs", "rings removed while it runs")
#: Ring places that other records than calls may have taken: steps, decisions, pulses.
OTHERS = 300
#: An exception's lines, with what torchrun puts before each; not the stacks that Python prints of all threads where a
#: process aborts, in which the recorder's thread stands too.
_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:(?:\[rank\d+\]:)? .*\n)+")


def wrong(plan: Plan, without: Outcome, watched: Outcome, case: Path) -> list[str]:
    """Everything that does not hold, an empty list if all does."""
    cases = cases_of(case)
    return [
        *_other_outcome(without, watched),
        *_left(without, watched),
        *_unsaid(plan, watched),
        *(_lost(plan, cases) if cases and plan.around not in NO_RINGS + NO_CASE else ()),
        *(_lost_at_kill(plan, watched) if plan.around == "raf killed and restarted" else ()),
        *_no_case(plan, cases),
        *(one for each in cases for one in _blamed(plan, each)),
    ]


def cases_of(first: Path) -> list[Path]:
    """Those of all incidents of one run, the last at the end: a rank that is stopped for a while is one, and its later
    fault another."""
    later = (path for path in first.parent.glob(f"{first.name}-*") if path.name.rpartition("-")[2].isdigit())
    return [
        *([first] if first.is_dir() else []),
        *sorted(later, key=lambda path: int(path.name.rpartition("-")[2])),
    ]


def _rings(case: Path) -> list[Path]:
    return sorted(case.glob("evidence/rings/*.ring"))


def _other_outcome(without: Outcome, watched: Outcome) -> Iterator[str]:
    if watched.code != without.code:
        yield f"outcome: the job ended with {watched.code}, and without raf with {without.code}"
    if watched.lines != without.lines:
        more, less = set(watched.lines) - set(without.lines), set(without.lines) - set(watched.lines)
        yield f"outcome: the output has {sorted(more)[:3]} more and {sorted(less)[:3]} less"
    if watched.made != without.made:
        yield f"outcome: the job made {watched.made}, and without raf {without.made}"


def _left(without: Outcome, watched: Outcome) -> Iterator[str]:
    for one in watched.left_processes:
        yield f"left: the process {one[:120]}"
    if len(watched.left_files) > len(without.left_files):
        yield f"left: the files {watched.left_files[:4]}"


def _unsaid(plan: Plan, watched: Outcome) -> Iterator[str]:
    silent = (
        "recording" not in watched.said and "recorded" not in watched.said and "recorder" not in watched.said
    )
    if plan.around in NO_RINGS and silent:
        yield "unsaid: nothing was recorded, and nobody said so"
    if any("rankandfile" in block for block in _TRACEBACK.findall(watched.said)):
        yield "unsaid: raf ended with a traceback"


def _no_case(plan: Plan, cases: list[Path]) -> Iterator[str]:
    """An attempt that fails of itself leaves a case with rings."""
    if (
        plan.last in plan.faults
        and plan.around not in NO_RINGS + NO_CASE
        and not any(_rings(case) for case in cases)
    ):
        yield "lost: the job failed, and there is no case with rings"


def _lost(plan: Plan, cases: list[Path]) -> Iterator[str]:
    """Calls that a rank had made before its fault, and that its ring lacks in the case of the fault, the last one."""
    fault = plan.faults.get(plan.last)
    cases = [case for case in cases if _rings(case)]
    for case in cases:
        for path in _rings(case):
            ring = read(path.read_bytes())
            if isinstance(ring, str):
                yield f"lost: {case.name} {path.name}: {ring}"
            elif ring.header.attempt in (plan.last, -1) and fault is not None and case == cases[-1]:
                # torchrun may end the others before they are in the call that fails.
                made = fault.step + (ring.header.rank != fault.rank and not plan.torchrun)
                yield from _missing(ring, plan.burst + plan.sites + made, path.name)


def _lost_at_kill(plan: Plan, watched: Outcome) -> Iterator[str]:
    if len(watched.rings) != plan.world:
        yield f"lost: {len(watched.rings)} rings were there after the watcher's end"
    for data in watched.rings:
        ring = read(data)
        if isinstance(ring, str):
            yield f"lost: {ring}"
        else:
            yield from _missing(ring, plan.burst + plan.sites + GATE, f"rank {ring.header.rank}")


def _missing(ring: Contents, made: int, name: str) -> Iterator[str]:
    calls = sum(kept.record.kind == layout.CALL for kept in ring.records)
    expected = made if made + OTHERS < ring.header.capacity else ring.header.capacity - OTHERS
    if calls < expected:
        yield f"lost: {name} has {calls} of {made} calls"
    if ring.torn:
        yield f"lost: {name} has {ring.torn} torn records"


def _blamed(plan: Plan, case: Path) -> Iterator[str]:
    """Nobody innocent, in the verdict that the case is headed by."""
    told = case / "diagnosis.json"
    if not told.is_file():
        return
    guilty = {fault.rank for fault in plan.faults.values()}
    if plan.around == "a rank stopped for a while":
        guilty.add(plan.world - 1)
    for verdict in json.loads(told.read_text())["verdicts"][:1]:
        named = {culprit["rank"] for culprit in verdict["culprits"]}
        if named - guilty:
            yield f"blamed: {sorted(named - guilty)}, where {sorted(guilty)} failed ({verdict['cause']})"
