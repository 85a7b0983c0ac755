"""What a plan remembers, and whom it takes for stuck: parts of it that need no processes."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import cast

import pytest

from rankandfile.runtime.plan import memory
from rankandfile.runtime.plan.calls import Call
from rankandfile.runtime.plan.judge import Post, Wait, circle, compare
from rankandfile.runtime.plan.made import Made
from rankandfile.runtime.plan.memory import Memory, Novelty


def wait(*ranks: int, each: bool = True) -> Wait:
    return Wait(frozenset(ranks), each)


class TestCircle:
    def test_ranks_that_wait_for_each_other(self) -> None:
        waits = {0: wait(1), 1: wait(2), 2: wait(1)}
        assert circle(1, waits) == circle(2, waits) == (1, 2)
        assert circle(0, waits) == ()  # it waits for them, and they do not wait for it

    def test_who_waits_for_one_that_moves_is_not_stuck(self) -> None:
        assert circle(0, {0: wait(1), 1: wait(2)}) == ()

    def test_of_several_one_is_enough_where_all_are_needed(self) -> None:
        assert circle(0, {0: wait(1, 2), 1: wait(0)}) == (0, 1)

    def test_where_some_are_needed_all_of_them_must_be_stuck(self) -> None:
        waits = {0: wait(1, 2, each=False), 1: wait(0)}
        assert circle(0, waits) == ()
        assert circle(0, {**waits, 2: wait(0)}) == (0, 1, 2)

    def test_a_wait_in_which_everybody_is_keeps_nobody(self) -> None:
        assert circle(0, {0: wait(each=False), 1: wait(0)}) == ()


@pytest.mark.parametrize(("sends", "receives", "right"), [(8, 8, True), (8, 16, True), (16, 8, False)])
def test_a_message_must_have_its_place(sends: int, receives: int, right: bool) -> None:
    posts = {
        0: Post(0, "send", 1, 1, "new", sends=sends),
        1: Post(1, "recv", 2, 2, "new", receives=receives),
    }
    found = compare(posts, "message 1", lambda _: False)
    assert (found is None) is right


class Plain:
    """The same as `Memory`, the long way."""

    def __init__(self) -> None:
        self.past: list[int] = []
        self.following: dict[tuple[int, ...], set[int]] = {}

    def meet(self, call: int) -> Novelty:
        before = [tuple(self.past[-length:]) for length in (64, 16, 4, 1) if len(self.past) >= length]
        known = [last for last in before if last in self.following]
        found = Novelty.NEW
        if known and call in self.following[known[0]]:
            found = Novelty.CHOICE
            if len(self.following[known[0]]) == 1:
                found = Novelty.SETTLED if len(known[0]) == 64 else Novelty.EXPECTED
        for last in before:
            self.following.setdefault(last, set()).add(call)
        self.past.append(call)
        return found


@pytest.mark.parametrize("moments", [memory._MOMENTS, 7])
def test_the_short_way_through_what_was_always_so_changes_nothing(
    moments: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_MOMENTS", moments)
    chance = random.Random(5)
    quick, plain, met = Memory(), Plain(), set()
    for step in range(900):
        calls = [1, 2, 3, 2, 4] if step % 300 < 280 or chance.random() < 0.6 else [1, 5, 3]
        for call in calls + ([6] if step % 40 == 39 else []):
            found = quick.meet(call)
            assert found is plain.meet(call)
            met.add(found)
    assert met == set(Novelty)


@pytest.mark.torch
def test_what_torch_gives_work_for_is_found_by_its_own_words() -> None:
    """All that ranks wait for at once, in whatever release of torch."""
    c10d = pytest.importorskip("torch.distributed.distributed_c10d")
    from rankandfile.runtime.plan.works import _gives_work

    called = set(re.findall(r"work = (?:group|pg)\.(\w+)\(", Path(c10d.__file__).read_text(encoding="utf-8")))
    assert {"allreduce", "broadcast", "barrier"} <= called
    assert {name for name in called if not _gives_work(getattr(c10d.ProcessGroup, name))} == set()
    assert _gives_work(c10d.ProcessGroup.send) and not _gives_work(c10d.ProcessGroup.rank)


def test_a_work_that_cannot_be_remembered_is_the_last_calls() -> None:
    """A backend's own, that says when two are equal: it must not cost the program anything."""

    class Work:
        __hash__ = None  # type: ignore[assignment]

    made, call, work = Made(), cast("Call", "a call"), Work()
    made.add(call)
    made.gave(work)
    assert made.call_of(work) is call
    another, other = cast("Call", "another"), Work()
    made.add(another)
    made.gave(other)
    assert made.call_of(other) is another


def test_works_that_are_waited_for_in_any_order_are_their_calls() -> None:
    class Work:
        pass

    made, works = Made(), [Work() for _ in range(3)]
    calls = [cast("Call", f"call {n}") for n in range(3)]
    for call, work in zip(calls, works, strict=True):
        made.forget()
        made.add(call)
        made.gave(work)
    assert [made.call_of(work) for work in works] == calls
    assert made.call_of(Work()) is None


def test_of_several_calls_nobody_knows_whose_work_is_whose() -> None:
    made = Made()
    made.add(cast("Call", "one"))
    made.add(cast("Call", "two"))
    made.gave(made)
    assert made.call_of(made) is None
