"""What a diagnosis says of tests, held against the program itself: it is run once more, and each test is watched.

The log of calls cannot tell which way a rank went that made no call there. The interpreter can: it says which line came
next behind the test, each time. A statement is untrue where in no round the ranks that it names found the test as it
says, neither each at its last visit nor all at one: of one side alone, any round before may have been it. Another run
may hang elsewhere, or not at all: where it did not hang, or a rank never came to the test, or both ways stand on one
line, or an exception came from the test itself, nothing is said.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab import linelog
from rankandfile.lab.linelog import RAISED
from rankandfile.lab.ranks import Ranks
from rankandfile.lab.run import lacking
from rankandfile.lab.truth import long_ranks
from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import Verdict

from .arms import Arms, arms
from .case import Case, lacks, to_run
from .named_file import named_file
from .sealed import SealedCase

Test = tuple[str, int]


class Watched(NamedTuple):
    test: Test
    said: Mapping[int, bool]
    so: bool | None
    """None: this run cannot tell."""


def watched(case: Case, known: SealedCase, verdicts: Sequence[Verdict]) -> list[Watched]:
    """Each test of which something is said, and whether it was so; none where this machine cannot run the program."""
    said = _said(verdicts, case.folder / "src")
    scenario = to_run(case, known.truth.title, known.truth.cause, known.truth.culprits)
    if not said or lacking(scenario) or lacks(case):
        return []
    with tempfile.TemporaryDirectory(prefix="raf-again-") as scratch:
        src, control = Path(scratch) / "src", Path(scratch) / "control"
        shutil.copytree(case.folder / "src", src)
        control.mkdir()
        tests = sorted({test for test, _ in said})
        with Ranks(scenario, src, control, twin=False, traced=tests) as ranks:
            stuck = ranks.watch() == "stuck"
        came = {rank: list(linelog.read(control / f"lines_{rank}.raw")) for rank in range(case.file.ranks)}
        return [Watched(test, by, so(by, _found(came, test, src)) if stuck else None) for test, by in said]


def _said(verdicts: Sequence[Verdict], src: Path) -> list[tuple[Test, dict[int, bool]]]:
    """By verdict and test: what each rank is said to have found."""
    found: list[tuple[Test, dict[int, bool]]] = []
    for verdict in verdicts:
        by_test: dict[Test, dict[int, bool]] = {}
        for claim in (one for one in verdict.claims if isinstance(one, TookBranch)):
            if (file := named_file(claim.file, src)) is not None:
                ways = dict.fromkeys(long_ranks(claim.ranks), claim.truth)
                by_test.setdefault((file, claim.line), {}).update(ways)
        found += by_test.items()
    return found


def _found(came: Mapping[int, list[linelog.Visit]], test: Test, src: Path) -> dict[int, list[bool | None]]:
    """How each rank found the test, visit by visit."""
    behind = arms((src / test[0]).read_text(encoding="utf-8", errors="replace"), test[1])
    return {
        rank: [_outcome(visit.next, behind) for visit in visits if (visit.file, visit.line) == test]
        for rank, visits in came.items()
    }


def _outcome(onwards: int, behind: Arms | None) -> bool | None:
    if behind is None or onwards == RAISED or not behind.true:
        return None
    return onwards in behind.true


def so(said: Mapping[int, bool], found: Mapping[int, Sequence[bool | None]]) -> bool | None:
    """Whether the ranks can have found it so: each at its last visit, or all at one."""
    visits = {rank: found.get(rank, ()) for rank in said}
    if any(not own or None in own for own in visits.values()):
        return None
    last = all(own[-1] == said[rank] for rank, own in visits.items())
    return last or any(_at(said, visits, n) for n in range(min(map(len, visits.values()))))


def _at(said: Mapping[int, bool], visits: Mapping[int, Sequence[bool | None]], n: int) -> bool:
    return all(own[n] == said[rank] for rank, own in visits.items())


def untrue(case: Case, known: SealedCase, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What is said of tests that was not so."""
    for test, said, was_so in watched(case, known, verdicts):
        if was_so is False:
            ways = ", ".join(
                f"{rank}: {'true' if truth else 'false'}" for rank, truth in sorted(said.items())
            )
            yield f"{test[0]}:{test[1]} was not found so ({ways})"
