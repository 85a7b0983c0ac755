"""Blind sets of found evidence: folders without a program, whose author says what a perfect reader could say."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

from rankandfile.lab.blind import sealed, sealing
from rankandfile.lab.blind.found.case import FoundTruth, Place
from rankandfile.lab.blind.found.marks import FoundMarks, marked
from rankandfile.model.diagnosis import Culprit, Diagnosis, Job, Location, Verdict
from rankandfile.model.errors import UserError

TRUTH = FoundTruth(
    title="Rank 1 waits for a lock",
    form="py-spy",
    hang=True,
    cause="host_blocked",
    culprits=[1],
    location=Place("cache.py", 31),
    says=[r"cache\.py:31"],
    never=[r"rank 0 is stuck"],
)


@pytest.fixture
def found(raf: Raf, tmp_path: Path) -> Path:
    folder = tmp_path / "summer"
    assert raf("lab", "blind", "new", folder, "--evidence").status == 0
    stated = folder / "set.toml"
    stated.write_text(stated.read_text().replace("not said yet", "A test."), encoding="utf-8")
    return folder


def test_a_set_of_found_evidence_is_sealed_scored_once_and_opened(raf: Raf, found: Path) -> None:
    page = found.parent / "page.md"
    done = raf("lab", "blind", "seal", found)
    assert done.status == 0, done.err
    assert sorted(path.name for path in (found / "case-01").iterdir()) == ["evidence"]
    assert sealed.read(found).content.found["case-01"].culprits == [1]

    done = raf("lab", "blind", "score", found, "--page", page)
    assert done.status == 0, done.err
    told = page.read_text()
    assert "1 folders without a program" in told
    assert "| case-01 | py-spy text, one file for each rank |" in told
    assert "cache.py" in (found / "scores" / "1" / "case-01.txt").read_text()
    assert raf("lab", "blind", "score", found, "--page", page).status == 2

    done = raf("lab", "blind", "reveal", found)
    assert "Rank 1 waits for a lock" in done.out
    assert "truth      host_blocked: 1" in done.out
    sealed.read(found)  # what was opened is still the set that was sealed


def test_evidence_that_was_changed_is_noticed(found: Path) -> None:
    sealing.seal(found)
    file = found / "case-01" / "evidence" / "pyspy_rank1.txt"
    file.write_text(file.read_text() + "\n")
    with pytest.raises(UserError, match=r"changed since it was sealed: case-01/evidence/pyspy_rank1\.txt"):
        sealed.read(found)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('cause = "gremlins"', "no such cause"),
        ("says = ['(']", "no pattern"),
        ("culprit = [1]", "culprit"),
    ],
)
def test_a_truth_that_cannot_be_marked_is_refused(found: Path, line: str, words: str) -> None:
    (found / "case-01" / "truth.toml").write_text(f'title = "t"\nform = "f"\n{line}\n', encoding="utf-8")
    with pytest.raises(UserError, match=words):
        sealing.seal(found)


def _said(
    cause: str = "host_blocked", sure: bool = True, rank: int = 1, hang: bool | None = True
) -> Diagnosis:
    who = [Culprit(rank=rank)]
    verdict = Verdict(
        hang=hang,
        cause=cause,
        family="host",
        confidence="supported" if sure else "hypothesis",
        sentence="",
        culprits=who if sure else [],
        suspects=[] if sure else who,
        location=Location(file="jobs/cache.py", line=31),
    )
    return Diagnosis(
        job=Job(world_size=2, ranks_seen="0-1", groups=[], group_count=0, calls=0, dumps=0),
        verdicts=[verdict],
        evidence=[],
        notes=[],
    )


def _marks(said: Diagnosis | str, card: str = "rank 1 stands in cache.py:31") -> FoundMarks:
    return marked("one", TRUTH, said, card, card, 0.1)


def test_the_right_answer_is_right_and_a_suspect_too() -> None:
    for said in (_said(), _said(sure=False)):
        one = _marks(said)
        assert (one.mark, one.culprits, one.cause, one.line, one.lacks) == ("right", True, True, True, [])


@pytest.mark.parametrize(
    ("said", "card", "mark"),
    [
        (_said(cause="host_slow"), "rank 1 stands in cache.py:31", "partly"),
        (_said(cause="host_slow", rank=0, sure=False), "no place", "nothing"),
        (_said(cause="host_slow", rank=0), "rank 0 in cache.py:31", "wrong"),
        (_said(hang=False), "rank 1 stands in cache.py:31", "wrong"),
        (_said(), "cache.py:31, and rank 0 is stuck", "wrong"),
        ("it broke", "it broke", "wrong"),
    ],
)
def test_half_an_answer_none_and_an_untrue_one_are_told_apart(
    said: Diagnosis | str, card: str, mark: str
) -> None:
    assert _marks(said, card).mark == mark


def test_where_nobody_can_be_named_a_suspect_is_not_right_and_blame_is_wrong() -> None:
    undecided = FoundTruth(title="t", form="f", suspects=[1])
    for sure, rank, mark in ((False, 1, "right"), (False, 0, "nothing"), (True, 0, "wrong")):
        said = _said(sure=sure, rank=rank, hang=None)
        assert marked("one", undecided, said, "", "", 0.1).mark in (
            mark,
            "partly" if mark == "nothing" else mark,
        )
