"""Two ranks against two, of which stacks and the watchdogs' lines are left: a guard clause says who was turned back."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.source.written_evidence import gave_up, stack

import rankandfile
from rankandfile.model.diagnosis import Culprit, Divergence, Verdict, Wait
from rankandfile.model.ranks import format_ranks
from rankandfile.source.culprits.by_code import _awaited, _with_all_alike
from rankandfile.source.culprits.by_few import who_asked_for_it, who_is_odd
from rankandfile.source.dependence import Reason
from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.lines.divergence import CodeDivergence, Side
from rankandfile.source.lines.found_line import FoundLine

VAULT = """import os
import torch.distributed as dist

def newest():
    return max(os.listdir(f"/scratch/{os.getpid()}"), default=None)

def restore(state):
    step = newest()
    if step is None:
        return 0
    dist.all_gather(state, step)
    return step
"""
TRAIN = """import torch.distributed as dist
from vault import restore

def advance(model, batch):
    dist.all_reduce(model(batch))

def main(model, batches):
    start = restore(model)
    for batch in batches[start:]:
        advance(model, batch)

main(*__import__("job").parts())
"""
INSIDE = ("restore (vault.py:11)", "main (train.py:8)")
BEHIND = ("advance (train.py:5)", "main (train.py:10)")


def left_behind(folder: Path, vault: str, inside: tuple[int, ...], over: bool = True) -> Verdict:
    """What four ranks leave of which some are inside of `restore`, and the others behind it."""
    (folder / "src").mkdir()
    (folder / "src" / "vault.py").write_text(vault)
    (folder / "src" / "train.py").write_text(TRAIN)
    (folder / "evidence").mkdir()
    for rank in range(4):
        op, where = ("all_gather", INSIDE) if rank in inside else ("all_reduce", BEHIND)
        (folder / "evidence" / f"stack_rank_{rank}.txt").write_text(
            stack(rank, op, *where, "<module> (train.py:12)")
        )
        word = gave_up(rank, op, 38, out=4) if over else "starting\n"
        (folder / "evidence" / f"rank_{rank}.log").write_text(word)
    return rankandfile.diagnose([folder / "evidence"], src=[folder / "src"]).verdicts[0]


def test_who_is_turned_back_is_named(tmp_path: Path) -> None:
    verdict = left_behind(tmp_path, VAULT, (0, 1))
    assert [one.rank for one in verdict.culprits] == [2, 3], verdict.sentence
    assert verdict.location is not None and verdict.location.condition == "if step is None:"
    assert (verdict.confidence, "guard clause" in verdict.sentence) == ("supported", True)


@pytest.mark.parametrize(
    ("vault", "inside", "over"),
    [
        (VAULT, (0,), True),  # more were turned back than went on: then to go on is the exception
        (VAULT, (0, 1), False),  # nothing shows that they stay there
        (VAULT.replace("        return 0\n    dist", "        step = 0\n    dist"), (0, 1), True),
    ],
    ids=["most", "moving", "no guard"],
)
def test_nobody_is_named_where_no_guard_tells(
    tmp_path: Path, vault: str, inside: tuple[int, ...], over: bool
) -> None:
    verdict = left_behind(tmp_path, vault, inside, over)
    assert not {2, 3} & {one.rank for one in verdict.culprits}, verdict.sentence


@pytest.mark.parametrize(
    ("few", "many", "suspects", "source", "members", "named"),
    [
        ((1,), (0, 2), (1,), "local_data", None, (1,)),
        ((1,), (0, 2), (), "local_data", None, ()),  # nothing else shows it apart
        ((1,), (0, 2), (), "local_data", "0-2", (1,)),  # these are all
        ((1,), (0, 2), (), "local_data", "0-3", ()),  # where rank 3 went is not known
        ((1,), (0, 2), (0,), "local_data", "0-2", ()),  # stacks show another one apart
        ((0, 1), (2, 3), (0, 1), "local_data", "0-3", ()),  # as many as the others
        ((1,), (0, 2), (1,), "rank_api", "0-2", ()),  # what each rank is in the job is meant
    ],
)
def test_who_alone_stands_apart_upon_what_is_its_own_is_out_of_line(
    few: tuple[int, ...],
    many: tuple[int, ...],
    suspects: tuple[int, ...],
    source: str,
    members: str | None,
    named: tuple[int, ...],
) -> None:
    one, other = (Side(format_ranks(ranks), ranks[0], ()) for ranks in (few, many))
    divergence = CodeDivergence((), other, one, settled=False)
    place: Any = SimpleNamespace(at=lambda line: f"meters.py:{line}")
    found = FoundLine(place, 56, "sorted(self.slots)", Reason(level="varying", source=source), divergence)
    verdict = Verdict(
        hang=True, cause="different_collective", family="paths", confidence="hypothesis", sentence=""
    )
    verdict.suspects = [Culprit(rank=rank, doing="stands apart") for rank in suspects]
    verdict.divergence = Divergence(group="g", seq=4, kind="substituted", cohorts=[], members=members)
    told = who_is_odd(verdict, found, divergence, one)
    assert (told.ranks if told is not None else ()) == named
    # No rounds before show what is usual; or most did what nobody had done before, and no loop came to its end.
    for unusual in (None, other):
        told = who_is_odd(verdict, found, divergence, unusual)
        assert (told.ranks if told is not None else ()) == (named if suspects else ())


@pytest.mark.parametrize(
    ("alone", "others", "source", "named"),
    [
        ((1,), (0,), "local_data", (1,)),
        ((2,), (0, 1, 3), "local_data", (2,)),
        ((0, 1, 3), (2,), "local_data", ()),  # most asked for it: who did not is the exception
        ((0,), (1, 2, 3), "rank_api", ()),  # what each rank is in the job is meant
        ((1,), (0,), "", (1,)),  # nothing shows that both are asked the same
    ],
)
def test_who_alone_asked_its_framework_for_more_is_named(
    alone: tuple[int, ...], others: tuple[int, ...], source: str, named: tuple[int, ...]
) -> None:
    """A callback of one rank's own asked for an evaluation, and that rank alone is in it."""
    asked, went_on = (Side(format_ranks(ranks), ranks[0], ()) for ranks in (alone, others))
    divergence = CodeDivergence((), went_on, asked, settled=False)
    place: Any = SimpleNamespace(at=lambda line: f"watch.py:{line}")
    reason = Reason(level="varying" if source else "unknown", source=source)
    found = FoundLine(place, 31, "if jumped:", reason, divergence, kind="flag", singled=alone)
    verdict = Verdict(hang=True, cause="undetermined", family="unknown", confidence="hypothesis", sentence="")
    nothing_before: Any = SimpleNamespace(calls=lambda rank: [])
    by_code = who_asked_for_it(verdict, found, divergence, nothing_before)
    assert (by_code.ranks if by_code else ()) == named


@pytest.mark.parametrize(
    ("others", "before", "named"),
    [((0,), "evaluate", ()), ((0,), "step", (1,)), ((0, 2), "evaluate", (1,))],
)
def test_what_both_did_before_may_be_due_where_nothing_shows_who_is_asked(
    others: tuple[int, ...], before: str, named: tuple[int, ...]
) -> None:
    """Each round that is due has an evaluation; of two ranks one asks for it this time."""
    evaluates, steps = ((Frame(name, "loop.py", line),) for name, line in (("evaluate", 40), ("step", 20)))
    asked, went_on = Side("1", 1, evaluates), Side(format_ranks(others), others[0], steps)
    divergence = CodeDivergence((), went_on, asked, settled=False)
    place: Any = SimpleNamespace(at=lambda line: f"watch.py:{line}")
    reason = Reason(level="unknown")
    found = FoundLine(place, 31, "if due:", reason, divergence, kind="flag", singled=(1,))
    verdict = Verdict(hang=True, cause="undetermined", family="unknown", confidence="hypothesis", sentence="")
    path = evaluates if before == "evaluate" else steps
    paths: Any = SimpleNamespace(calls=lambda rank: [SimpleNamespace(path=path)])
    by_code = who_asked_for_it(verdict, found, divergence, paths)
    assert (by_code.ranks if by_code else ()) == named


def test_who_waits_in_other_groups_at_the_same_place_went_the_same_way() -> None:
    """Of pairs of ranks only one pair's lines may name their group; the others stand where these do."""
    here, there = ((Frame("fit", "train.py", line),) for line in (4, 9))
    now = {0: here, 1: here, 2: there, 3: there, 4: ()}
    paths: Any = SimpleNamespace(now=now.__getitem__)
    divergence = CodeDivergence((), Side("0", 0, here), Side("2", 2, there), settled=False)
    waits = [Wait(ranks="0-4", waits_for="", group="mesh", op="all_reduce")]
    verdict = Verdict(
        hang=True, cause="undetermined", family="unknown", confidence="hypothesis", sentence="", waits=waits
    )
    widened = _with_all_alike(verdict, divergence, paths)
    assert (widened.normal.members, widened.culprit.members) == ((0, 1), (2, 3))


@pytest.mark.parametrize(("missing", "names"), [("0", True), ("0,1,3", False)])
def test_a_test_that_singles_out_one_rank_says_nothing_of_others_that_are_missing_too(
    missing: str, names: bool
) -> None:
    """`if rank == 0` parts rank 0 from rank 2, which waits; ranks 1 and 3 went the way of rank 2."""
    waits = [Wait(ranks="2", waits_for=missing, group="0", op="all_reduce")]
    verdict = Verdict(
        hang=True, cause="undetermined", family="unknown", confidence="hypothesis", sentence="", waits=waits
    )
    assert _awaited(verdict, ranks=(0,), others=(2,)) is names
