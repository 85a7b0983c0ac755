"""Heuristics have names, can be switched off for a while, and say whether they had a say."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest

from rankandfile.model.heuristics import HEURISTICS, Heuristic, heard, heuristic, switched_off


@pytest.fixture(autouse=True)
def none_stays() -> Iterator[None]:
    before = dict(HEURISTICS)
    yield
    HEURISTICS.clear()
    HEURISTICS.update(before)


def test_switched_off_it_says_what_it_says_of_nothing_and_only_inside_the_block() -> None:
    @heuristic("odd numbers", "odd numbers are suspicious", otherwise=())
    def odd(numbers: list[int]) -> tuple[int, ...]:
        return tuple(number for number in numbers if number % 2)

    assert odd([1, 2, 3]) == (1, 3)
    with switched_off("odd numbers"):
        assert odd([1, 2, 3]) == ()
        with switched_off("something else"):
            assert odd([1]) == ()
    assert odd([1, 2, 3]) == (1, 3)
    assert HEURISTICS["odd numbers"].meaning == "odd numbers are suspicious"


def test_other_threads_keep_it() -> None:
    @heuristic("here", "only here")
    def here() -> str | None:
        return "yes"

    said: list[str | None] = []
    with switched_off("here"):
        thread = Thread(target=lambda: said.append(here()))
        thread.start()
        thread.join()
        assert here() is None
    assert said == ["yes"]


def test_who_has_nothing_to_say_had_no_say() -> None:
    @heuristic("small", "small numbers")
    def small(number: int) -> int | None:
        return number if number < 3 else None

    word = Heuristic("word", "asked in the middle of something")
    with heard() as names:
        small(7)
        assert names == set()
        small(2)
        assert not word.off
    assert names == {"small", "word"}
    with switched_off("small"), heard() as names:
        assert small(2) is None
    assert names == {"small"}


def test_two_of_one_name_are_a_mistake() -> None:
    Heuristic("same", "one")
    with pytest.raises(ValueError, match="two heuristics are called same"):
        Heuristic("same", "another")
