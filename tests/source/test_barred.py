"""Hooks of one loop: a call that a test on the rank keeps all others from is made alone, and the line says why."""

from __future__ import annotations

import msgspec
import pytest
from support.source.toy_runs import Run, case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.diagnosis import Alternative, Verdict

HOOKS = """
import functools
import torch.distributed as dist


def lead_only(function):
    @functools.wraps(function)
    def inner(*args):
        {test}
            return function(*args)

    return inner


class Info:
    @functools.cached_property
    def folder(self):
        dist.broadcast(0, src=0)
        return "run"


class Meter:
    def after_epoch(self, info, n):
        dist.all_reduce(n)


class Panels:
    @lead_only{mark}
    def after_epoch(self, info, n):
        if n == 1:
            print(info.folder)


def main():
    info = Info()
    {before}
    for n in range(4):
        for hook in (Panels(), Meter()):
            hook.after_epoch(info, n)
"""


def either_of_two(run: Run, other: int) -> Verdict:
    """Rank `other` went another way, as the dumps have it, and they do not say who of the two departed."""
    return msgspec.structs.replace(
        verdict_of(run, other, "undetermined"),
        culprits=[],
        victims="0,1",
        alternatives=[
            Alternative(cause="different_collective", confidence="hypothesis", sentence="", culprits=rank)
            for rank in ("0", "1")
        ],
    )


def parted(test: str = "if dist.get_rank() == 0:", before: str = "pass", mark: str = "  # <-") -> Verdict:
    """Two ranks, of which the dumps do not say who departed."""
    run = play(2, train=HOOKS.format(test=test, before=before, mark=mark))
    verdict = either_of_two(run, 1)
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    if mark:
        assert place(found.location) == run.marked
    return found


def test_the_decorator_that_keeps_the_others_from_a_call_is_the_line_and_who_made_it_is_named() -> None:
    verdict = parted()
    assert (verdict.cause, [one.rank for one in verdict.culprits]) == ("rank_conditional", [0])
    assert "only rank 0 can come through `if dist.get_rank() == 0:` (train.py:8)" in verdict.sentence


def test_a_wrapper_that_any_rank_may_come_through_keeps_nobody_from_a_call() -> None:
    verdict = parted(test="if [n for n in args if n is not None][dist.get_rank():]:", mark="")
    assert "can come through" not in verdict.sentence
    assert not verdict.culprits


LIBRARY = """
import functools
import torch.distributed as dist


def one_rank_only(rank=0):
    def barring(function):
        @functools.wraps(function)
        def inner(*args):
            if dist.get_rank() == rank:
                return function(*args)
        return inner
    return barring
"""
HANDLERS = """
import torch.distributed as dist
from library import one_rank_only


def reduce(n):
    dist.all_reduce(n)


@one_rank_only({which}){mark}
def validate(n):
    if n == 1:
        dist.broadcast(n, src=0)


def main():
    for n in range(4):
        for handler in (validate, reduce):
            handler(n)
"""


@pytest.mark.parametrize(("which", "mark"), [("", "  # <-"), ("rank=0", "  # <-"), ("rank=1", "")])
def test_a_decorator_of_a_library_that_lets_the_first_rank_in_alone_is_the_line(
    which: str, mark: str
) -> None:
    run = play(3, train=HANDLERS.format(which=which, mark=mark), library=LIBRARY)
    verdict = msgspec.structs.replace(verdict_of(run, 1 if which == "rank=1" else 0, "early_exit"))
    own = {name: text for name, text in run.files.items() if name != "library.py"}
    found = locate(case_of(run), diagnosis_of(verdict), tree(own)).verdicts[0]
    if mark:
        assert place(found.location) == run.marked, found.sentence
        assert found.cause == "rank_conditional" and "lets the main process alone into validate()" in str(
            found.location
        )
    else:
        assert found.location is None or "one_rank_only" not in (found.location.condition or "")


TWICE = """
import torch.distributed as dist
from library import one_rank_only


def settle(n):
    dist.broadcast(n, src=0)


@one_rank_only()  # <-
def preview(n):
    if n > 1:
        for part in range(2):
            dist.broadcast(part, src=0)


def main():
    for n in range(4):
        for handler in (preview, settle):
            handler(n)
"""


def test_what_was_called_there_a_second_time_was_not_met_before() -> None:
    """The first of two calls like those of the others finds a partner; that both are from there says nothing."""
    run = play(2, train=TWICE, library=LIBRARY)
    own = {name: text for name, text in run.files.items() if name != "library.py"}
    verdict = either_of_two(run, 0)
    found = locate(case_of(run), diagnosis_of(verdict), tree(own)).verdicts[0]
    assert place(found.location) == run.marked, found.sentence
    assert [one.rank for one in found.culprits] == [0]
