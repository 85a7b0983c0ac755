"""What is said of tests is held against a run of the program in which the interpreter tells which way each one went."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from support.opened_sets import archives, name_of, unpacked

from rankandfile.lab.blind import case as files
from rankandfile.lab.blind import sealed
from rankandfile.lab.blind.forms import FORMS
from rankandfile.lab.blind.run_again import so, untrue
from rankandfile.lab.blind.scoring import answered
from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import Diagnosis

SAID = {0: False, 1: True}


@pytest.mark.parametrize(
    ("found", "was_so"),
    [
        ({0: [True, False], 1: [True]}, True),
        ({0: [False, True], 1: [True, True]}, True),
        ({0: [True, True], 1: [True, True]}, False),
        ({0: [False, True], 1: [False, True]}, False),
        ({0: [], 1: [True]}, None),
        ({0: [None], 1: [True]}, None),
    ],
    ids=["at last", "in one round", "never", "each in a round of its own", "nobody came", "not to be told"],
)
def test_a_way_was_taken_at_last_or_by_all_at_once(
    found: dict[int, list[bool | None]], was_so: bool | None
) -> None:
    assert so(SAID, found) is was_so


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(
    ("of", "name", "wrong", "test"),
    [
        # An exception led out of the loop, and through a `with`, which makes the call; not the loop's end.
        ("round-7b", "dialect-eval", {"3": False, "0-2,4-5": True}, ("evaluate.py", 25)),
        # The step's test was true on all ranks: what parted them stands in a listener.
        ("round-9b", "case-06", {"0,1": False, "2,3": True}, ("main.py", 66)),
    ],
    ids=["left by an exception", "behind an emitter"],
)
def test_a_way_that_no_rank_took_is_noticed_and_none_is_said_today(
    tmp_path: Path, of: str, name: str, wrong: dict[str, bool], test: tuple[str, int]
) -> None:
    folder = unpacked(next(one for one in archives("round") if name_of(one) == of), tmp_path)
    case = next(one for one in files.cases(folder) if one.name == name)
    known = sealed.read(folder).content.cases[name]
    said, _ = answered(case, FORMS[0], known)
    assert isinstance(said, Diagnosis)
    assert list(untrue(case, known, said.verdicts)) == []
    claims = [
        TookBranch(ranks=ranks, file=test[0], line=test[1], truth=truth, shown_by=0)
        for ranks, truth in wrong.items()
    ]
    with_it = [msgspec.structs.replace(said.verdicts[0], claims=claims)]
    assert len(list(untrue(case, known, with_it))) == 1
