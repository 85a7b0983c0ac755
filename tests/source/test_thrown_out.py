"""Who was thrown out of the call that the others wait in, by the line that its handler wrote."""

from __future__ import annotations

import pytest
from support.source.own_lines import with_lines
from support.source.toy_runs import Run, case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.diagnosis import Verdict

PROGRAM = """
import torch.distributed as dist


class Parts:
    def __init__(self, every):
        self.every = every
        self.parts = {{n: n for n in range(12) if n != 8 or dist.get_rank() != 2}}

    def due(self, step):
        return step % self.every == 0

    def take(self, step):
        try:
            dist.all_gather(self.parts[step])
        except LookupError:  # <-
            {writes}
            {ends}


def main():
    parts = Parts(len(open("/dev/null").read()) or 4)
    for step in range(1, 12):
        dist.all_reduce(step)
        if parts.due(step):
            parts.take(step)
"""
LINE = (2, "no part was taken at step 8")
WRITES = 'print("no part was taken at step", step)'


def said(run: Run, *lines: tuple[int, str]) -> Verdict:
    case = with_lines(case_of(run), *lines)
    return locate(case, diagnosis_of(verdict_of(run, 2)), tree(run.files)).verdicts[0]


def test_who_wrote_what_the_handler_writes_was_in_its_block_too() -> None:
    run = play(3, train=PROGRAM.format(writes=WRITES, ends="return"))
    verdict = said(run, LINE, (0, "begun with step 1"))
    assert (place(verdict.location), verdict.cause) == (run.marked, "swallowed_exception")
    assert "On rank 2 an exception was caught at train.py:" in verdict.sentence
    assert "not taken" not in verdict.sentence


@pytest.mark.parametrize(
    ("writes", "ends", "lines", "after"),
    [
        (WRITES, "return", ((1, LINE[1]), (0, "begun with step 1")), ""),  # another rank's
        (WRITES, "return", (LINE,), ""),  # of no other rank is there a log
        (WRITES, "raise", (LINE, (0, "begun with step 1")), ""),  # nobody goes on from there
        ("pass", "return", (LINE, (0, "begun with step 1")), ""),  # nothing writes it
        # It may be of a round before.
        (WRITES, "return", (LINE, (0, "begun with step 1")), "self.show(self.parts[step])"),
    ],
    ids=["another rank", "one log", "raises on", "written elsewhere", "raised behind the call"],
)
def test_without_its_own_line_nobody_is_said_to_have_caught_anything(
    writes: str, ends: str, lines: tuple[tuple[int, str], ...], after: str
) -> None:
    run = play(3, train=PROGRAM.format(writes=WRITES, ends="return"))
    files = {
        "train.py": run.files["train.py"]
        .replace(WRITES, writes)
        .replace("return\n\n\ndef", f"{ends}\n\n\ndef")
        .replace("        except LookupError", f"            {after}\n        except LookupError")
    }
    verdict = said(Run(files, run.calls), *lines)
    assert "was caught" not in verdict.sentence and verdict.cause == "skipped_collective"
