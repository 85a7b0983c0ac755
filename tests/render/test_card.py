"""The verdict on one screen, for every cause at two widths; and what it must not do whatever it is given."""

from __future__ import annotations

import re

import pytest
from support.render import hostile
from support.render.cards import SNAPSHOTS, WIDTHS, shown
from support.render.diagnosed import DOCUMENTED, document, simulated

from rankandfile.model.diagnosis import (
    Cohort,
    Culprit,
    Diagnosis,
    Excerpt,
    ExcerptLine,
    Remedy,
    Wait,
    to_json,
)
from rankandfile.model.ranks import format_ranks
from rankandfile.render.words import PLAIN

STALE = "not as it was: if it is as it should be, run `PYTHONPATH=tests python -m support.render.regenerate`"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("cause", DOCUMENTED)
def test_the_card_is_as_it_was_read_last(cause: str, width: int) -> None:
    expected = (SNAPSHOTS / f"{cause}.{width}.txt").read_text(encoding="utf-8")
    assert shown(document(cause), width) == expected, STALE


@pytest.mark.parametrize("cause", ["host_blocked", "size_mismatch"])
def test_the_kept_diagnoses_are_what_the_reasoning_says_now(cause: str) -> None:
    assert to_json(simulated(cause)) == to_json(document(cause)), STALE


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_the_answer_comes_first_and_fits_the_screen(cause: str) -> None:
    diagnosis = document(cause)
    verdict = diagnosis.verdicts[0]
    assert verdict.cause == cause
    lines = shown(diagnosis, 100).splitlines()
    assert len(lines) <= 40
    if verdict.hang and cause != "undetermined":
        assert lines[0].startswith(cause.replace("_", " ").upper())
        if verdict.culprits:
            assert f"rank{'s' if len(verdict.culprits) > 1 else ''} " in lines[0]
    assert lines[1].startswith(verdict.confidence)
    assert " ".join(lines[2:8]).startswith(verdict.sentence[:60])


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("cause", DOCUMENTED)
def test_no_line_is_wider_than_the_window(cause: str, width: int) -> None:
    assert max(len(line) for line in shown(document(cause), width).splitlines()) <= width


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_without_unicode_it_is_ascii_and_says_the_same(cause: str) -> None:
    plain = shown(document(cause), 100, PLAIN)
    assert plain.isascii()
    assert words(plain) == words(shown(document(cause), 100))


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_colour_adds_nothing(cause: str) -> None:
    coloured = shown(document(cause), 100, color=True)
    assert words(re.sub(r"\x1b\[[\d;]*m", "", coloured)) == words(shown(document(cause), 100))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_the_cohorts_are_a_strip_of_who_called_what() -> None:
    card = shown(document("raised"), 100)
    assert "0,1,3-7 ▸ all_reduce #19 model.py:102" in card
    assert "2       ▸ gone: whether it came to #19, nothing tells" in card


def test_the_code_shows_where_the_ways_part() -> None:
    card = shown(document("rank_conditional"), 100).splitlines()
    (condition,) = [line for line in card if "rank == 3:" in line]
    (call,) = [line for line in card if "dist.all_reduce(loss_sum)" in line]
    assert re.search(r"AB +85 \?", condition)
    assert re.search(r" B +86 >", call)


def test_where_nobody_is_known_to_be_behind_it_says_so_first() -> None:
    diagnosis = document("undetermined")
    assert shown(diagnosis, 100).startswith("RANK 0 DID NOT JOIN, cause open")
    diagnosis.verdicts[0].culprits = []
    assert shown(diagnosis, 100).startswith("UNDETERMINED")


def test_a_patch_is_pointed_to() -> None:
    diagnosis = document("size_mismatch")
    assert "raf fix" not in shown(diagnosis, 100)
    diagnosis.verdicts[0].remedies = [Remedy(title="Pad", text="Pad it.", diff="--- a\n+++ b\n")]
    assert "`raf fix` shows the change as a patch." in shown(diagnosis, 100)


def big() -> Diagnosis:
    """16,384 ranks of which every other one is to blame, for a thousand reasons."""
    diagnosis = document("rank_conditional")
    verdict = diagnosis.verdicts[0]
    odd, even = range(1, 16384, 2), format_ranks(range(0, 16384, 2))
    verdict.culprits = [Culprit(rank=r, host=f"node{r // 8:04}", doing=f"in phase {r % 1000}") for r in odd]
    verdict.victims = even
    cohorts = [Cohort(ranks=format_ranks(range(n, 16384, 64))) for n in range(64)]
    verdict.divergence.cohorts = cohorts  # type: ignore[union-attr]
    verdict.waits = [
        Wait(ranks=even, waits_for=format_ranks(odd), group="default_pg", seq=n) for n in range(500)
    ]
    lines = [ExcerptLine(number=n, text="    step()" * 30, cohorts=[0]) for n in range(2000)]
    lines[1000].mark = "condition"
    verdict.excerpts = [Excerpt(file="train.py", cohorts=[even, format_ranks(odd)], lines=lines)]
    diagnosis.verdicts += [verdict] * 40
    return diagnosis


def test_a_big_job_never_floods_the_screen() -> None:
    card = shown(big(), 100)
    assert len(card.splitlines()) <= 40
    assert "1000 ?" in card, "the condition is among the lines that are left"


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_words_stay_words(width: int) -> None:
    card = shown(hostile.diagnosis(), width)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2028\ud800]", card)
    assert "[red]markup[/red]" in card.replace("\n", "").replace(" ", "")
