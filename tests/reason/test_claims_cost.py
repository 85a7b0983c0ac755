"""The check of claims costs below a tenth of a diagnosis: in calls of functions, which no busy machine changes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

from rankandfile.pipeline import Options, run
from rankandfile.reason.claims import holds

EXAMPLES = Path(__file__).parents[2] / "examples"


class Counted:
    """Calls of functions, of Python's and of C's, and those of them that were made within the checks."""

    def __init__(self) -> None:
        self.all = self.within = self._depth = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        check = frame.f_code is holds.what_holds.__code__
        if event in ("call", "c_call"):
            self._depth += check and event == "call"
            self.all += 1
            self.within += self._depth > 0
        elif event == "return":
            self._depth -= check


@pytest.mark.slow
@pytest.mark.parametrize("name", ["early-stop", "tp-dp-cascade"])
def test_the_check_costs_below_a_tenth_of_a_diagnosis(name: str) -> None:
    evidence, options = [EXAMPLES / name / "evidence"], Options(jobs=1, sources=(EXAMPLES / name / "src",))
    run(evidence, options)  # what is imported late counts for neither
    counted, before = Counted(), sys.getprofile()
    sys.setprofile(counted)
    try:
        run(evidence, options)
    finally:
        sys.setprofile(before)
    assert counted.within > 1000
    assert counted.within < counted.all / 10
