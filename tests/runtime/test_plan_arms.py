"""Which ways through a program are the two arms of one decision."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.runtime.plan.arms import alternatives

PROGRAM = """\
def branch(batch):
    if batch is None:
        absent()
    else:
        present()
    after()

def early(batches):
    for batch in batches:
        if not batch:
            absent()
            continue
        present()
    after()

def leaves(batches):
    for batch in batches:
        if not batch:
            absent()
            break
        present()

def returns(batch):
    if batch is None:
        absent()
        return
    present()

def returns_from_loop(batches):
    for batch in batches:
        if batch is None:
            absent()
            return
        present()

def tries(batch):
    try:
        present()
    except ValueError:
        absent()

def cases(batch):
    match batch:
        case None:
            absent()
        case _:
            present()

def at_once(batch):
    return (
        absent()
        if batch is None
        else present()
    )
"""


def frame(line: int, function: str) -> str:
    return f"job/train.py:{line}:{function}"


@pytest.mark.parametrize(
    ("function", "one", "other", "expected"),
    [
        ("branch", 3, 5, True),
        ("branch", 3, 6, False),
        ("early", 11, 13, True),
        ("early", 11, 14, False),
        ("leaves", 19, 21, False),
        ("returns", 25, 27, True),
        ("returns_from_loop", 32, 34, False),
        ("tries", 38, 40, False),
        ("cases", 45, 47, True),
        ("at_once", 51, 53, True),
    ],
)
def test_what_stands_for_each_other(
    tmp_path: Path, function: str, one: int, other: int, expected: bool
) -> None:
    file = str(tmp_path / "train.py")
    Path(file).write_text(PROGRAM)

    def asked(mine: int, theirs: int) -> bool:
        return alternatives(
            [frame(1, "inner"), frame(mine, function), frame(99, "main")],
            [file] * 3,
            [frame(2, "helper"), frame(1, "inner"), frame(theirs, function), frame(99, "main")],
        )

    assert asked(one, other) is asked(other, one) is expected


def test_ways_that_part_in_another_function_are_none(tmp_path: Path) -> None:
    file = str(tmp_path / "train.py")
    Path(file).write_text(PROGRAM)
    assert not alternatives([frame(3, "branch")], [file], [frame(13, "early")])
    assert not alternatives([frame(3, "branch")], ["no such file"], [frame(5, "branch")])


def test_one_way_is_itself() -> None:
    assert alternatives([frame(3, "branch")], [""], [frame(3, "branch")])
    assert not alternatives([frame(3, "branch")], [""], [frame(4, "inner"), frame(3, "branch")])
