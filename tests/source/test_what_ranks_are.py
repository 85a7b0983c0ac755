"""Tests that ask what a rank is, through helpers, fields, meshes and frameworks, come out as they do on that rank."""

from __future__ import annotations

import ast
import textwrap

import pytest
from support.source.toy_runs import tree

from rankandfile.source.one_rank import Job, OneRank
from rankandfile.source.program.modules import Program

FILES = {
    "env.py": """
        import os
        import torch.distributed as dist

        LOCAL = int(os.environ.get("LOCAL_RANK", "0"))
        VERBOSE = False
        QUIET = False

        def rank():
            if not dist.is_available() or not dist.is_initialized():
                return 0
            return dist.get_rank()

        def is_main():
            return rank() == 0
        """,
    "layout.py": """
        import os
        from dataclasses import dataclass, field
        from torch.distributed.device_mesh import init_device_mesh

        @dataclass
        class Place:
            steps: int
            rank: int = field(default_factory=lambda: int(os.environ["RANK"]))
            world: int = 0

        @dataclass
        class Layout:
            mesh: object

            @classmethod
            def of(cls, dp, tp):
                return cls(init_device_mesh("cpu", (dp, tp), mesh_dim_names=("dp", "tp")))

            @property
            def head(self):
                return self.mesh.get_local_rank("tp") == 0

            @property
            def last(self):
                return self.mesh.get_coordinate()[0] == self.mesh.size(0) - 1
        """,
    "elsewhere.py": """
        import env

        def loud():
            env.VERBOSE = True
        """,
    "train.py": """
        import torch.distributed as dist
        import env
        from env import LOCAL, QUIET, is_main
        from layout import Layout, Place
        from accelerate import Accelerator
        from lightning.pytorch.utilities import rank_zero_only

        class Saver:
            def __init__(self, every):
                self.main, self.every = is_main(), every
                self.chief = False
                if dist.get_rank() == 3:
                    self.chief = True

        @rank_zero_only
        def name():
            return "run"

        def ask(n, trainer):
            saver, place, layout = Saver(5), Place(steps=3), Layout.of(2, 2)
            accelerator = Accelerator()
            first = False
            if dist.get_rank() == 0:
                first = n > 1
            return {0}
        """,
}


def ways(expression: str, rank: int, hosts: tuple[str, ...] = ()) -> set[bool]:
    files = {path: textwrap.dedent(text).replace("{0}", f"({expression})") for path, text in FILES.items()}
    program = Program(tree(files))
    module = program.module("train.py")
    assert module is not None
    ask = next(function for function in module.functions if function.name == "ask")
    returned = next(node for node in ast.walk(ask.node) if isinstance(node, ast.Return))
    assert returned.value is not None
    return set(OneRank(program, rank, Job(world=4, hosts=hosts)).outcomes(returned.value, ask))


@pytest.mark.parametrize(
    ("expression", "on"),
    [
        ("is_main()", {0}),
        ("not env.is_main()", {1, 2, 3}),
        ("saver.main", {0}),
        ("place.rank == 2", {2}),
        ("place.rank == place.world", {0}),
        ("layout.head", {0, 2}),
        ("layout.last", {2, 3}),
        ("layout.mesh['dp'].get_local_rank() == 0", {0, 1}),
        ("accelerator.is_main_process", {0}),
        ("accelerator.process_index >= accelerator.num_processes // 2", {2, 3}),
        ("trainer.is_global_zero", {0}),
        ("name() is not None", {0}),
        ("env.QUIET or dist.get_rank() in (1, 2)", {1, 2}),
        ("QUIET or dist.get_world_size() > 1", {0, 1, 2, 3}),
    ],
)
def test_each_rank_goes_its_way(expression: str, on: set[int]) -> None:
    for rank in range(4):
        assert ways(expression, rank) == {rank in on}


@pytest.mark.parametrize(
    ("expression", "never"),
    [
        ("saver.main and n % saver.every == 0", {1, 2, 3}),
        ("layout.head and n", {1, 3}),
        ("first", {1, 2, 3}),
    ],
)
def test_a_way_that_a_rank_cannot_take(expression: str, never: set[int]) -> None:
    for rank in range(4):
        assert ways(expression, rank) == ({False} if rank in never else {True, False})


@pytest.mark.parametrize(
    "expression", ["env.VERBOSE", "n", "place.steps == n", "trainer.is_ready", "name() == n"]
)
def test_nothing_is_said_of_what_may_be_anything(expression: str) -> None:
    assert ways(expression, 0) == {True, False}


def test_local_ranks_are_known_where_hosts_are() -> None:
    assert ways("LOCAL == 0", 0) == {True}
    assert ways("LOCAL == 0", 2) == {True, False}
    assert ways("LOCAL == 0", 2, ("a", "a", "b", "b")) == {True}
    assert ways("LOCAL == 0", 3, ("a", "a", "b", "b")) == {False}
