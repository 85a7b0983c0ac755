"""Which ranks the program puts into its groups, by the names that dumps and logs have for them."""

from __future__ import annotations

import textwrap

import pytest
from support.source.toy_runs import case_of, play, tree

from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.making_groups.laid_out import laid_out
from rankandfile.source.one_rank.job import Job

HEAD = """
import sys
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

"""


def groups(program: str, world: int = 6) -> dict[str, set[tuple[int, ...]]]:
    case = case_of(play(2, train="def main(): pass"))
    search = Search(case, tree({"train.py": HEAD + textwrap.dedent(program)}))
    return {desc: {*lists} for desc, lists in laid_out(search, Job(world=world)).items()}


def test_every_round_of_a_loop_in_a_function_that_is_told_the_sizes() -> None:
    found = groups("""
        def build(stages, replicas):
            rank, world = dist.get_rank(), dist.get_world_size()
            mine = {}
            for replica in range(replicas):
                ranks = list(range(replica, world, replicas))
                group = dist.new_group(ranks, group_desc="pipe")
                if rank in ranks:
                    mine["pipe"] = group
            for stage in range(stages):
                dist.new_group([stage * replicas + r for r in range(replicas)], group_desc=f"data{stage}")

        build(stages=3, replicas=2)
    """)
    assert found == {
        "pipe": {(0, 2, 4), (1, 3, 5)}, "data0": {(0, 1)}, "data1": {(2, 3)}, "data2": {(4, 5)},
    }  # fmt: skip


def test_a_helper_makes_them_for_whoever_calls_it() -> None:
    found = groups("""
        def make(ranks, name):
            return dist.new_group(ranks, group_desc=name)

        def main():
            ends = make([0, dist.get_world_size() - 1], "ends")
            middle = [make([a, a + 1], "middle") for a in (1, 3)]
            everybody = make(None, "all")
    """)
    assert found == {"ends": {(0, 5)}, "middle": {(1, 2), (3, 4)}, "all": {(0, 1, 2, 3, 4, 5)}}


def test_the_dimensions_of_a_mesh() -> None:
    found = groups("""
        mesh = init_device_mesh("cpu", (3, 2), mesh_dim_names=("dp", "tp"))
    """)
    assert found == {"mesh_dp": {(0, 2, 4), (1, 3, 5)}, "mesh_tp": {(0, 1), (2, 3), (4, 5)}}


@pytest.mark.parametrize(
    "program",
    [
        'dist.new_group(list(range(int(sys.argv[1]))), group_desc="part")',
        'dist.new_group([dist.get_rank(), 5], group_desc="part", use_local_synchronization=True)',
        'while dist.get_rank() >= 0:\n    dist.new_group([0, 1], group_desc="part")',
        'for n in sys.stdin:\n    dist.new_group([0, 1], group_desc="part")',
        'dist.new_group([0, 9], group_desc="part")',
        'dist.new_group([0, 1], group_desc="part")\ndist.new_group(sys.path, group_desc="part")',
        'init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))',
        "dist.new_group([0, 1])",
    ],
)
def test_what_is_not_known_is_not_told(program: str) -> None:
    assert groups(program) == {}
