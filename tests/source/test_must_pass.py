"""Whether a rank must have come by a line on its way from one call to the next."""

from __future__ import annotations

import textwrap

import pytest
from support.source.toy_runs import tree

from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces

TEXT = textwrap.dedent("""
    def fit(steps, rows, chief):
        for step in steps:
            for row in rows:
                sent(row)  # row
            if chief:
                saved(step)  # save
            clipped(step)  # clip
        ended()  # end
""")


def line(remark: str) -> int:
    return next(n for n, text in enumerate(TEXT.splitlines(), 1) if text.endswith(f"# {remark}"))


@pytest.mark.parametrize(
    ("after", "via", "to", "anew", "must"),
    [
        ("clip", "row", "end", False, False),
        ("row", "clip", "end", False, True),
        ("row", "save", "end", False, False),
        ("save", "clip", "save", False, True),
        # The next row, or the first of the next step.
        ("row", "clip", "row", False, False),
        ("row", "clip", "row", True, True),
        ("row", "save", "row", True, False),
    ],
)
def test_a_line_that_no_way_goes_around(after: str, via: str, to: str, anew: bool, must: bool) -> None:
    source = tree({"train.py": TEXT})
    reachability = Reachability(SourcePlaces(source, Program(source)))
    lines = line(after), line(via), line(to)
    assert reachability.must_pass(Frame("fit", "train.py", lines[0]), *lines, anew=anew) is must
