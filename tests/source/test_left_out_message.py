"""A stage that waits for a message of one that has done all that comes before its own call: it was left out."""

from __future__ import annotations

from functools import partial

import msgspec
import polars as pl
import pytest
from support.source.toy_runs import (
    FOLDER,
    Frames,
    Run,
    case_of,
    diagnosis_of,
    locate,
    place,
    remarked,
    tree,
    undecided,
)

from rankandfile.model.causes import LEFT_MESSAGE_OUT
from rankandfile.model.diagnosis import Culprit, Verdict, Wait

TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
PROGRAM = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def silent(chunk):
    return bool(chunk.abs().max() < 0.1)


def chunks(stage, count, own):
    for i in range({rounds}):
        x = torch.empty(4)
        dist.recv(x, src=stage - 1)  # asks
        if {skips}:  # test
            continue
        dist.send(x, dst=stage + 1)


def main():
    dist.init_process_group()
    stage = dist.get_rank()
    own = list(DataLoader(open(f"part{{stage}}").readlines()))
    chunks(stage, 5, own)  # inside
    dist.barrier()  # end


main()  # main
"""


def stuck(rounds: str = "count", skips: str = "silent(own[i])") -> Verdict:
    """Ranks 0 and 1 wait in the barrier, rank 2 for a message of rank 1, and rank 3 for one of rank 2."""
    text = PROGRAM.format(rounds=rounds, skips=skips).lstrip("\n")

    at = partial(remarked, text)

    def frames(waits: bool) -> Frames:
        outer = ("<module>", f"{FOLDER}train.py", at("main"))
        if not waits:
            return (("main", f"{FOLDER}train.py", at("end")), outer)
        inner = ("chunks", f"{FOLDER}train.py", at("asks"))
        return (("recv", TORCH, 1), inner, ("main", f"{FOLDER}train.py", at("inside")), outer)

    stand = {rank: frames(rank > 1) for rank in range(4)}
    run = Run({"train.py": text}, {rank: [] for rank in stand})
    for rank in (0, 1):
        run.calls[rank].append(("barrier", stand[rank]))
    verdict = undecided(run, Wait(ranks="0,1", waits_for="2,3", group="0"))
    found = locate(case_of(run, stand), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    if found.culprits:
        assert found.location is not None
        assert place(found.location) == ("train.py", at("test"))
    return found


def test_who_may_leave_a_message_out_by_its_own_data_did() -> None:
    verdict = stuck()
    assert [one.rank for one in verdict.culprits] == [1]
    assert verdict.cause == "skipped_collective"
    assert "Rank 2 waits for a message of rank 1" in verdict.sentence


@pytest.mark.parametrize(
    ("rounds", "skips"),
    [("count", "count > 9"), ("len(own)", "silent(own[i])"), ("count", "stage == 1")],
)
def test_nobody_is_named_where_no_data_or_another_number_of_rounds_decides(rounds: str, skips: str) -> None:
    assert not stuck(rounds, skips).culprits


RING = """
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.utils.data import DataLoader


def hop(mesh, kv):
    place, many = mesh.get_local_rank("cp"), mesh["cp"].size()
    before = dist.get_global_rank(mesh.get_group("cp"), (place - 1) % many)
    dist.recv(torch.empty(4), src=before)  # asks
    dist.send(kv, dst=dist.get_global_rank(mesh.get_group("cp"), (place + 1) % many))


def attention(mesh, chunk):
    if {empty}:  # test
        return chunk
    for _ in range(mesh["cp"].size() - 1):
        hop(mesh, chunk)  # hops
    return chunk


def main():
    dist.init_process_group()
    mesh = init_device_mesh("cpu", (2, int(open("width").read())), mesh_dim_names=("dp", "cp"))
    for chunk in DataLoader(open(f"part{{dist.get_rank()}}").readlines()):
        attention(mesh, chunk)  # inside
        dist.barrier()  # end


main()  # main
"""


def stuck_in_ring(empty: str, lines: tuple[tuple[int, ...], ...] = ((0, 1, 2), (3, 4, 5))) -> Verdict:
    """Rank 5 waits in the barrier, ranks 3 and 4 for a message of the one before; the others wait too."""
    text = RING.format(empty=empty).lstrip("\n")

    at = partial(remarked, text)

    def frame(function: str, remark: str) -> tuple[str, str, int]:
        return function, f"{FOLDER}train.py", at(remark)

    def frames(waits: bool) -> Frames:
        outer = frame("<module>", "main")
        if not waits:
            return (frame("main", "end"), outer)
        return (
            ("recv", TORCH, 1),
            frame("hop", "asks"),
            frame("attention", "hops"),
            frame("main", "inside"),
            outer,
        )

    stand = {rank: frames(rank in (3, 4)) for rank in range(6)}
    run = Run({"train.py": text}, {rank: [] for rank in stand})
    for rank in (0, 1, 2, 5):
        run.calls[rank].append(("barrier", stand[rank]))
    verdict = undecided(run, Wait(ranks="0-2,5", waits_for="3,4", group="0"))
    case = case_of(run, stand)
    rows = [
        {"group": 10 + n, "name": str(n), "desc": "mesh_cp", "members": [*line], "members_from": "inferred"}
        for n, line in enumerate(lines)
    ]
    groups = pl.concat([case.groups, pl.DataFrame(rows, schema=case.groups.schema)])
    case = msgspec.structs.replace(case, groups=groups)
    found = locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]
    if found.culprits:
        assert found.location is not None
        assert place(found.location) == ("train.py", at("test"))
    return found


def test_who_may_come_back_by_its_own_data_before_the_messages_of_a_ring_did() -> None:
    assert [one.rank for one in stuck_in_ring("not chunk.any()").culprits] == [5]


def test_nobody_is_named_where_all_come_back_or_none_or_the_ring_is_not_known() -> None:
    assert not stuck_in_ring("mesh is None").culprits
    assert not stuck_in_ring("not chunk.any()", lines=((0, 1), (3, 4, 5))).culprits


REACHES = """
import torch.distributed as dist


class Below:
    def __init__(self, peer):
        self.peer = peer

    def tell(self, reach):
        if {quiet}:  # test
            return
        dist.send(reach.edge, dst=self.peer)


class Nobody:
    def tell(self, reach):
        reach.fresh = False


class Reach:
    def __init__(self, levels):
        self.edge, self.fresh = levels[-1:], True

    def step(self):
        self.fresh = self.edge.item() > 0.1


def main():
    dist.init_process_group()
    rank, world = dist.get_rank(), dist.get_world_size()
    reach = Reach(open(f"levels{{rank}}").readlines())
    below = Below(rank + 1) if rank + 1 < world else Nobody()
    for _ in range(10):
        below.tell(reach)
        if rank:
            dist.recv(reach.edge, src=rank - 1)
        reach.step()
    dist.barrier()  # end


main()  # main
"""


@pytest.mark.parametrize(("quiet", "found"), [("not reach.fresh", True), ("self.peer == 9", False)])
def test_who_is_known_to_have_left_a_message_out_did_so_where_no_number_decides(
    quiet: str, found: bool
) -> None:
    """Nothing tells from whom it is awaited: of all transfers only one can be left out in one round and not another."""
    text = REACHES.format(quiet=quiet).lstrip("\n")
    at = partial(remarked, text)
    end = (("main", f"{FOLDER}train.py", at("end")), ("<module>", f"{FOLDER}train.py", at("main")))
    run = Run({"train.py": text}, {0: [("barrier", end)], 1: [("barrier", end)], 2: []})
    left_out = Culprit(rank=1, doing=f"{LEFT_MESSAGE_OUT}: made 19 transfers before the call, not 20")
    verdict = msgspec.structs.replace(
        undecided(run, Wait(ranks="0,1", waits_for="2", group="0")),
        cause="skipped_collective",
        culprits=[left_out],
    )
    where = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0].location
    assert (where is not None and place(where) == ("train.py", at("test"))) is found


def test_by_the_numbers_of_its_calls_it_owes_a_message_whoever_receives_from_whom() -> None:
    """From whom each receives a file tells; and one of those that lack a message waits in no frame of torch's."""
    text = RING.replace("(place - 1) % many", "int(open('left').read())").format(empty="mesh is None")
    text = text.replace("  # test", "").replace(
        '    for _ in range(mesh["cp"].size() - 1):\n        hop(mesh, chunk)  # hops',
        '    for n in range(mesh["cp"].size()):\n'
        "        if not chunk[n].any():  # test\n            continue\n"
        '        if n + 1 < mesh["cp"].size():\n            hop(mesh, chunk)  # hops',
    )
    text = text.lstrip("\n")
    at = partial(remarked, text)

    def frame(function: str, remark: str) -> tuple[str, str, int]:
        return function, f"{FOLDER}train.py", at(remark)

    outer = frame("<module>", "main")
    end = (frame("main", "end"), outer)
    hop = (frame("hop", "asks"), frame("attention", "hops"), frame("main", "inside"), outer)
    stand: dict[int, Frames] = {0: end, 1: (("recv", TORCH, 1), *hop), 2: hop}
    run = Run({"train.py": text}, {0: [("barrier", end)], 1: [], 2: []})
    left_out = Culprit(rank=0, doing=f"{LEFT_MESSAGE_OUT}: made 2 transfers before the call, not 4")
    verdict = msgspec.structs.replace(
        undecided(run, Wait(ranks="0", waits_for="1,2", group="0")),
        cause="skipped_collective",
        culprits=[left_out],
    )
    where = locate(case_of(run, stand), diagnosis_of(verdict), tree(run.files)).verdicts[0].location
    assert where is not None and place(where) == ("train.py", at("test"))
