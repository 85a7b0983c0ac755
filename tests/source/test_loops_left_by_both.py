"""How often a loop went round parts two ranks only where one of them is in it."""

from __future__ import annotations

import pytest
from support.source.toy_runs import FOLDER, tree

from rankandfile.source.lines.branchings import Branching
from rankandfile.source.lines.call_paths import Frame, Stop
from rankandfile.source.lines.decision import Sides, decisions
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces

TRAIN = """import torch.distributed as dist

def evaluate(scores):
    for row in open(f"shard-{dist.get_rank()}"):
        scores.add(row)
    return scores.table()
"""


@pytest.mark.parametrize(("seen", "parts"), [(5, True), (6, False)])
def test_a_loop_that_both_have_left_parts_nobody(seen: int, parts: bool) -> None:
    source = tree({"train.py": TRAIN})
    places = SourcePlaces(source, Program(source))
    frame = Frame("evaluate", f"{FOLDER}train.py", 4)
    way = Branching(frame, None, "end", Stop(seen, None), 0, 1, (), guessed=True)
    unknown = Sides((0,), (1,), lambda *_: frozenset({True, False}), lambda *_: None)
    found = {decision.condition.kind for decision in decisions(places, [way], unknown)}
    assert ("for" in found) is parts
