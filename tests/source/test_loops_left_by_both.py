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


LEARN = """import torch.distributed as dist

def one_turn(engine):
    return [
        engine.learn(row)
        for row in open(f"shard-{dist.get_rank()}")
        if row != "#"
    ]

def turns(engine):
    for row in open(f"shard-{dist.get_rank()}"):
        engine.learn(row)
"""


@pytest.mark.parametrize(("function", "line", "loop"), [("one_turn", 5, 6), ("turns", 12, 11)])
@pytest.mark.parametrize(("rounds", "told"), [(1, True), (2, False)])
def test_a_loop_that_one_alone_has_left_is_no_story_of_its_own_two_rounds_further_out(
    function: str, line: int, loop: int, rounds: int, told: bool
) -> None:
    """However it is written: as a comprehension, too."""
    source = tree({"train.py": LEARN})
    places = SourcePlaces(source, Program(source))
    frame = Frame(function, f"{FOLDER}train.py", line)
    way = Branching(frame, None, Stop(line, "learn"), "end", rounds, 1, (), guessed=False)
    unknown = Sides((0,), (1,), lambda *_: frozenset({True, False}), lambda *_: None)
    of_items = [one for one in decisions(places, [way], unknown) if one.condition.of_items]
    assert [one.condition.line for one in of_items] == ([loop] if told else [])
