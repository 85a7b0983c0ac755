"""A test that takes a collective to be asked is no way between two calls that ranks made one after the other."""

from __future__ import annotations

import pytest
from support.source.toy_runs import FOLDER, tree

from rankandfile.source.dependence.index import index_of
from rankandfile.source.effects.always import always_issues
from rankandfile.source.effects.loud import effects_of
from rankandfile.source.lines.branchings import branchings
from rankandfile.source.lines.call_paths import CallPath, Frame
from rankandfile.source.lines.decision import Sides, decisions
from rankandfile.source.lines.reachability import Reachability
from rankandfile.source.program.modules import Program
from rankandfile.source.program.places import SourcePlaces

TRAIN = """import torch.distributed as dist

def learn(n):
    dist.all_reduce(n)

def spread(n, deeply):
    {spread}
    return n

def train(steps):
    for step in steps:
        for n in range(3):
            learn(n)
        if spread(step, False) > 1:
            dist.broadcast(step, src=0)
"""
TESTS_AT = 14


def asked_between(spread: str, made_none: bool) -> set[int]:
    """Lines of the tests by which, of two that summed up, one summed up again and the other sent a broadcast."""
    source = tree({"train.py": TRAIN.replace("{spread}", spread)})
    places = SourcePlaces(source, Program(source))

    def path(*frames: tuple[str, int]) -> CallPath:
        return tuple(Frame(function, f"{FOLDER}train.py", line) for function, line in frames)

    step, share = path(("train", 13), ("learn", 4)), path(("train", 15))
    unknown = Sides((0,), (1,), lambda *_: frozenset({True, False}), lambda *_: None, made_none)
    ways = branchings(step, step, share, Reachability(places))
    return {each.condition.line for each in decisions(places, ways, unknown)}


@pytest.mark.parametrize(
    ("spread", "made_none", "possible"),
    [
        ("dist.barrier()", True, False),
        # A call lies between, as nothing tells that none does.
        ("dist.barrier()", False, True),
        # What it does under a test it may have left out.
        ("if deeply: dist.barrier()", True, True),
        ("n = n + 1", True, True),
    ],
)
def test_who_made_no_collective_was_not_asked_what_takes_one(
    spread: str, made_none: bool, possible: bool
) -> None:
    assert (TESTS_AT in asked_between(spread, made_none)) is possible


@pytest.mark.parametrize(
    ("body", "always"),
    [
        ("dist.all_reduce(n)", True),
        ("return dist.all_reduce(n)", True),
        ("for _ in range(n): dist.all_reduce(n)", False),
        ("if n: return\n    dist.all_reduce(n)", False),
        ("if n: n = 1\n    dist.all_reduce(n)", True),
        ("return n and dist.all_reduce(n)", False),
        ("dist.all_reduce(n, group=PAIR)", False),
    ],
)
def test_what_is_issued_whichever_way_it_goes(body: str, always: bool) -> None:
    text = f"import torch.distributed as dist\n\ndef f(n):\n    {body}\n\ndef main(n):\n    f(n)\n"
    program = Program(tree({"train.py": text}))
    main = next(f for module in index_of(program).modules for f in module.functions if f.name == "main")
    assert always_issues(effects_of(program), main.node.body[0]) is always  # type: ignore[union-attr]
