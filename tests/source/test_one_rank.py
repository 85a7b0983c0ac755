"""What a number in the source can be on one rank: arithmetic on the rank is followed, all else can be anything."""

from __future__ import annotations

import ast
import textwrap

import pytest
from support.source.toy_runs import tree

from rankandfile.source.one_rank import OneRank, Values
from rankandfile.source.program.modules import Program

LAYOUT = """
    import os
    import torch.distributed as dist

    LEADER = 3

    class Layout:
        def __init__(self, pp):
            self.rank, self.world = dist.get_rank(), dist.get_world_size()
            self.stage = self.rank % pp
            self.given = pp
            self.moved = 0

        @property
        def first(self):
            return self.stage == 0

        @property
        def next(self):
            return None if self.last else self.rank + 1

        @property
        def last(self):
            return self.rank == self.world - 1

        third = property(lambda self: self.stage == 2)

    def env(name, default="0"):
        return int(os.environ.get(name, default))

    def elsewhere(layout):
        layout.moved = 5
        layout.stolen = 1

    def ask(n):
        layout = Layout(4)
        mine = int(os.environ["RANK"])
        best = dist.get_rank() if n.item() > 2 else 0
        for neighbour in (layout.rank - 1, layout.next):
            pass
        for index in range(4):
            pass
        count = 1
        count += 1
        {0}
"""


def values(expression: str, rank: int, world: int = 4, of: str = LAYOUT) -> Values:
    text = textwrap.dedent(of).replace("{0}", f"return ({expression})")
    program = Program(tree({"train.py": text}))
    module = program.module("train.py")
    assert module is not None
    ask = next(function for function in module.functions if function.name == "ask")
    returned = next(node for node in ast.walk(ask.node) if isinstance(node, ast.Return))
    assert returned.value is not None
    return OneRank(program, rank, world).of(returned.value, ask)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("dist.get_rank()", {2}),
        ("mine", {2}),
        ("(dist.get_rank() + 1) % dist.get_world_size()", {3}),
        ("dist.get_rank() // 2 * 2", {2}),
        ("best", {0, 2}),
        ("LEADER", {3}),
        ("layout.rank", {2}),
        ("layout.next", {3}),
        ("neighbour", {1, 3}),
        ("layout.stage == 3", {False}),
        ("layout.first", {False}),
        ("layout.third", {True}),
        ("layout.given", {4}),
        ("layout.rank / 4", {0.5}),
        ("'RANK' + n", None),
        ("int(os.environ.get('WORLD_SIZE', '1')) > 1", {True}),
        ("layout.first or layout.rank in (2, 3)", {True}),
        ("-1 if os.environ['WORLD_SIZE'] == '4' else n", {-1}),
        ("0 if layout.last else 1", {1}),
        ("-layout.rank", {-2}),
        ("not layout.rank", {False}),
        ("0 if layout.rank == 1 and n else 1", {1}),
        ("0 if layout.rank == 2 or n else 1", {0}),
        ("[r * 2 for r in range(3)]", {(0, 2, 4)}),
        ("[r for r in range(4) if r % 2 == dist.get_rank() % 2]", {(0, 2)}),
        ("[a + b for a in (0, 2) for b in range(2)]", {(0, 1, 2, 3)}),
        ("[name for place, name in enumerate(('a', 'b')) if place]", {("b",)}),
        ("list(range(8))[1::3]", {(1, 4, 7)}),
        ("[0] + sorted([3, 2])", {(0, 2, 3)}),
        ("f'stage{layout.stage}'", {"stage2"}),
        ("env('RANK')", {2}),
        ("env('WORLD_SIZE') - env('RANK') == 1", {False}),
    ],
)
def test_what_follows_from_the_rank(expression: str, expected: set[object] | None) -> None:
    assert values(expression, rank=2) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "n", "n.item()", "layout.moved", "layout.stolen", "index", "count", "unknown", "layout.absent",
        "dist.get_rank(n)", "1 << 2", "10 ** 10 ** 10", "n or 0", "[r for r in range(4) if n]", "[r for r in n]",
        "range(10 ** 9)", "[a for a in range(4000) for b in range(4000)]", "f'{n}'", "f'{mine:03d}'",
    ],
)  # fmt: skip
def test_what_can_be_anything(expression: str) -> None:
    assert values(expression, rank=2) is None


def test_the_last_rank_has_nobody_behind_it() -> None:
    assert values("layout.next", rank=3) == {None}


@pytest.mark.parametrize(
    "expression", ["1 % 0", "+".join(["dist.get_rank()"] * 300), "(" * 80 + "1" + ")" * 80, "1 // (1 - 1)"]
)
def test_nothing_breaks_it(expression: str) -> None:
    values(expression, rank=0)


MESHES = """
    from torch.distributed.device_mesh import init_device_mesh

    class Place:
        def __init__(self, mesh):
            self.dp, self.tp = mesh["dp"], mesh["tp"]

    def ask(n):
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        dp, tp = mesh["dp"], mesh["tp"]
        either = mesh["dp"]
        if n:
            either = mesh["tp"]
        place = Place(mesh)
        {0}
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(dp.get_local_rank(), tp.get_local_rank())", {(1, 0)}),
        ("(place.dp.get_local_rank(), place.tp.get_local_rank())", {(1, 0)}),
        ("either.get_local_rank()", None),
    ],
)
def test_a_part_of_a_mesh_may_have_a_name(expression: str, expected: set[object] | None) -> None:
    assert values(expression, rank=2, of=MESHES) == expected
