"""Sets of ranks as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.model.ranks import brief_ranks, format_ranks, parse_ranks


@pytest.mark.parametrize(
    ("ranks", "text"),
    [([], ""), ([3], "3"), ([0, 1], "0,1"), ([0, 1, 2], "0-2"), ([8, 0, 1, 2, 2, 6], "0-2,6,8")],
)
def test_ranks_are_written_as_people_write_them(ranks: list[int], text: str) -> None:
    assert format_ranks(ranks) == text


@given(st.sets(st.integers(0, 5000), max_size=200))
def test_what_is_written_can_be_read(ranks: set[int]) -> None:
    assert parse_ranks(format_ranks(ranks)) == sorted(ranks)


@pytest.mark.parametrize("text", ["x", "3-", "-3", "7-3", "1,,x", "0-9999999999", "٣", "0-3000000"])
def test_nonsense_is_refused_with_its_own_words(text: str) -> None:
    with pytest.raises(ValueError, match="'"):
        parse_ranks(text)


def test_a_long_list_is_told_by_its_step_or_its_beginning() -> None:
    assert brief_ranks("0-6,8", 80) == "0-6,8"
    assert brief_ranks(format_ranks(range(0, 8192, 8)), 80) == "0,8,...,8184"
    told = brief_ranks(format_ranks(n for n in range(999) if n % 7 not in (0, 3)), 20)
    assert told == "1,2,4-6,8,9,11-13,... (713 ranks)"
    assert brief_ranks(told, 20) == told
