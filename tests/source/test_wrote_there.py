"""The line where nothing but the log tells it: the arm or the handler in which one rank wrote what no other did."""

from __future__ import annotations

import pytest
from support.source.own_lines import with_lines
from support.source.toy_runs import Run, case_of, diagnosis_of, locate, place, remarked, tree, verdict_of

#: The calls are a framework's, which asks `control` after each step; no frame of the program is in them.
PROGRAM = """
import logging
import os

log = logging.getLogger("coach")


class Watch:
    def on_step_end(self, state, control):
        if self.ratio(state) > 3:  # own
            log.info("step %d: loss %.3f is a surprise", state.step, state.loss)
            state.surprised = True

    def ratio(self, state):
        self.losses.append(float(open(f"part{os.environ['RANK']}").read()))
        return self.losses[-1] / state.usual


def keep(item):
    try:
        return store(item)
    except OSError as problem:  # handler
        log.warning("left out %s: %s", item, problem)


def report(step):
    if int(os.environ["RANK"]) == 2:  # of its number
        log.info("this host has come to step %d", step)
    log.info("all have come to step %d here", step)
"""
FRAMEWORK = "/usr/lib/python3/site-packages/engine/loop.py"


def told(*said: tuple[int, str]) -> tuple[str, int | None] | None:
    """Rank 2 made another call than the others, from within a framework."""
    step = [("all_reduce", (("step", FRAMEWORK, 1917),))] * 3
    calls = {0: step, 1: step, 2: [*step[:2], ("all_gather", (("log", FRAMEWORK, 2400),))]}
    run = Run({"coach.py": PROGRAM.lstrip("\n")}, calls)
    case = with_lines(case_of(run), (0, "step 10 of 40 is done"), *said)
    return place(locate(case, diagnosis_of(verdict_of(run, 2)), tree(run.files)).verdicts[0].location)


@pytest.mark.parametrize(
    ("line", "remark"),
    [("step 17: loss 7.697 is a surprise", "own"), ("left out 5: [Errno 28] No space left", "handler")],
)
def test_what_it_alone_wrote_stands_in_an_arm(line: str, remark: str) -> None:
    assert told((2, line)) == ("coach.py", remarked(PROGRAM.lstrip("\n"), remark))


@pytest.mark.parametrize(
    "said",
    [
        (),
        ((1, "step 17: loss 7.697 is a surprise"),),  # by one that is not named
        ((2, "this host has come to step 3"),),  # it always does
        ((2, "all have come to step 3 here"),),  # in no arm
        ((2, "nothing of the program wrote this"),),
        # It did so before, and got on.
        ((2, "step 8: loss 9.5 is a surprise"), (2, "cast anchor"), (2, "step 17: loss 7.7 is a surprise")),
    ],
)
def test_no_other_line_tells(said: tuple[tuple[int, str], ...]) -> None:
    at = told(*said)
    assert at is None or at[0] != "coach.py"
