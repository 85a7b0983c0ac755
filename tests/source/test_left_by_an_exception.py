"""A rank that raised in a function, and went on elsewhere: only where something keeps what it raised."""

from __future__ import annotations

import pytest
from support.source.toy_runs import FOLDER, tree

from rankandfile.source.lines.branchings import branchings
from rankandfile.source.lines.call_paths import CallPath, Frame
from rankandfile.source.lines.decision import Sides, decisions
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces

KEEP = """import torch
import torch.distributed as dist

def keep(model):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "weights.pt")
    dist.barrier()

"""
TRAIN = """def train(model, batches):
    for epoch in range(3):
        for batch in batches:
            dist.all_reduce(batch)
        keep(model)
"""
KEPT = """def train(model, batches):
    for epoch in range(3):
        for batch in batches:
            dist.all_reduce(batch)
        try:
            keep(model)
        except OSError:
            continue
"""


@pytest.mark.parametrize(("train", "called", "may_have"), [(TRAIN, 13, False), (KEPT, 14, True)])
def test_who_goes_on_has_left_by_an_exception_only_where_it_is_kept(
    train: str, called: int, may_have: bool
) -> None:
    source = tree({"train.py": KEEP + train})
    places = SourcePlaces(source, Program(source))

    def path(*frames: tuple[str, int]) -> CallPath:
        return tuple(Frame(function, f"{FOLDER}train.py", line) for function, line in frames)

    step = path(("train", 12))
    unknown = Sides((0,), (1,), lambda *_: frozenset({True, False}), lambda *_: None)
    ways = branchings(step, step, path(("train", called), ("keep", 7)), Reachability(places))
    lines = {each.condition.line for each in decisions(places, ways, unknown)}
    assert (5 in lines) is may_have
