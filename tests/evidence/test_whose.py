"""Rank and host from paths: the names that exist in the wild, and the numbers in them that are no ranks."""

from __future__ import annotations

import random
import re
import tempfile
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.evidence.owners.owner_by_path import Owner, whose
from rankandfile.evidence.owners.path_clues import _OTHER

pytestmark = pytest.mark.slow


def ranks(*sources: str) -> list[int | None]:
    return [owner.rank for owner in whose(sources)]


@pytest.mark.parametrize(
    ("source", "rank"),
    [
        ("nccl_trace_rank_7", 7),
        ("/tmp/comm_lib_trace_rank_12", 12),
        ("run_dump_7", 7),
        ("rank_7", 7),
        ("rank7.pkl", 7),
        ("rank-07.pickle", 7),
        ("RANK=7.json", 7),
        ("trace_7.json", 7),
        ("7.pipe", 7),
        ("7", 7),
        ("nccl_trace_rank_3.json.gz", 3),
        ("nccl_trace_rank_3.json#2", 3),
        ("dumps.tar.gz!/nccl_trace_rank_3", 3),
        ("job_812345/nccl_trace_rank_3", 3),
        ("job_812345.tar!/2026-11-20/nccl_trace_rank_3", 3),
        ("nccl_trace_rank_3_20261120_123000", 3),
        ("20261120_123000_rank_3_pid4711.pkl", 3),
        ("3f2a9c1b-1234-4abc-9def-001122334455_rank_3", 3),
        ("local_rank_1_global_rank_9.pkl", 9),
        ("world_rank_9_local_rank_1", 9),
        ("tp_rank_1_rank_5", 5),
        ("rank_3/trace.json", 3),
        ("rank_3/dump_0.json", 3),
        ("rank_3/nccl_trace_rank_5", 5),
        ("rank_11/local_rank_3.json", 11),
        ("nccl_trace_rank_my_run_5", 5),
        ("0/rank_4.json", 4),
        ("worker-3/nccl_trace_rank_25", 25),
    ],
)
def test_one_file(source: str, rank: int | None) -> None:
    assert ranks(source) == [rank]


def test_a_folder_named_for_what_went_wrong_gives_nobody_a_rank() -> None:
    assert ranks("hang_rank3/trace_0.json", "hang_rank3/trace_1.json") == [0, 1]
    assert ranks("hang_rank3/nccl_trace_rank_0", "hang_rank3/nccl_trace_rank_1") == [0, 1]
    assert ranks("rank_0/dump_0.json", "rank_0/dump_1.json", "rank_1/dump_0.json") == [0, 0, 1]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("local_rank_3.pkl", "inside a machine or group"),
        ("tp_rank_3.pkl", "inside a machine or group"),
        ("node_rank_2/dump.json", "inside a machine or group"),
        ("run/attempt_0/3/dump.json", "inside a machine or group"),
        ("worker-3/trace.json", "nothing in its path"),
        ("node3.pkl", "nothing in its path"),
        ("gpu3.pkl", "nothing in its path"),
        ("ras_1.txt", "nothing in its path"),
        ("job_812345.pkl", "nothing in its path"),
        ("fr_trace_20261120_123000.txt", "nothing in its path"),
        ("dump.json", "nothing in its path"),
        ("3/dump.json", "may be a rank or anything"),
        ("run427", "'run427' may belong to the name"),
        ("dump_3_of_trace_4", "2 numbers"),
        ("nccl_trace_rank_node-02", "nothing in its path"),
        ("trace_48213.json", "process or job id"),
        ("rank_1_rank_2", "several ranks: 1, 2"),
        ("rank_2000000", "as high as"),
        ("frank3.pkl", "may belong to the name"),
    ],
)
def test_one_file_that_does_not_tell(source: str, reason: str) -> None:
    (owner,) = whose([source])
    assert owner.rank is None
    assert owner.rank_from is None
    assert reason in (owner.doubt or "")


@pytest.mark.parametrize(
    ("source", "rank", "host"),
    [
        ("nccl_trace_rank_container-node02_5", 5, "container-node02"),
        ("nccl_trace_rank_ip-10-1-2-3_5", 5, "ip-10-1-2-3"),
        ("host-a/x/nccl_trace_rank_3", 3, "host-a"),
        ("node07/nccl_trace_rank_3", 3, "node07"),
        ("ip-10-1-2-3/nccl_trace_rank_3", 3, "ip-10-1-2-3"),
        ("10.1.2.3/nccl_trace_rank_3", 3, "10.1.2.3"),
        ("gpu01.cluster.example.org/rank_3", 3, "gpu01.cluster.example.org"),
        ("worker-3/nccl_trace_rank_3", 3, "worker-3"),
        ("my-job-worker-12/gpu3/rank_99", 99, "my-job-worker-12"),
        ("gpu-12/rank_99", 99, "gpu-12"),
        ("all.zip!/Node07.tar.gz!/tmp/nccl_trace_rank_3", 3, "Node07"),
        ("node07_rank_3.pkl", 3, "node07"),
        ("node-07.rank_3.pkl", 3, "node-07"),
        ("node_rank_2/rank_17", 17, "node_rank_2"),
        ("job_812345/nccl_trace_rank_3", 3, None),
        ("rank_3/trace.json", 3, None),
        ("run-1/nccl_trace_rank_3", 3, None),
        ("attempt_1/nccl_trace_rank_3", 3, None),
        ("host_unplugged/evidence/nccl_trace_rank_3", 3, None),
        ("best_worker_by_local_score/evidence/nccl_trace_rank_3", 3, None),
        ("gpu-stuck-in-kernel/evidence/nccl_trace_rank_3", 3, None),
        ("host-unplugged/node07/nccl_trace_rank_3", 3, "node07"),
    ],
)
def test_hosts(source: str, rank: int, host: str | None) -> None:
    assert whose([source]) == [Owner(rank, "folder" if source.startswith("rank_") else "name", host, None)]


def test_a_folder_for_temporary_files_is_no_host() -> None:
    scratch = f"{tempfile.gettempdir()}/unpacked-c3jsnpit"
    assert [one.host for one in whose([f"{scratch}/job/rank_0", f"{scratch}/node-c3/rank_1"])] == [
        None,
        "node-c3",
    ]
    assert [one.host for one in whose(["/mnt/unpacked-c3jsnpit/job/rank_0"])] == ["unpacked-c3jsnpit"]


def test_the_number_that_varies_decides() -> None:
    assert ranks("hang_42_0", "hang_42_1", "hang_42_2") == [0, 1, 2]
    assert ranks("x3y_7.bin", "x3y_8.bin") == [7, 8]
    assert ranks("run0", "run1", "run2", "run3") == [0, 1, 2, 3]
    # A process id beside the rank, small or large.
    assert ranks("trace_0_4711", "trace_1_4713", "trace_2_4712") == [0, 1, 2]
    assert ranks("dump.0.pid4711", "dump.1.pid4713") == [0, 1]
    # Node and rank: the node repeats.
    assert ranks("trace_0_0", "trace_0_1", "trace_1_2", "trace_1_3") == [0, 1, 2, 3]
    # Several dumps of each rank.
    assert ranks("trace_0_48211", "trace_0_49302", "trace_1_48212", "trace_1_49310") == [0, 0, 1, 1]


def test_two_ways_to_read_the_numbers_are_no_way() -> None:
    assert ranks("a_0_0", "a_0_1", "a_1_0", "a_1_1") == [None] * 4
    assert ranks("dump_0_0", "dump_0_1", "dump_1_0", "dump_1_1") == [None] * 4
    assert ranks("x_17", "x_90210") == [None, None]
    assert ranks("trace_3_48211", "trace_3_48212") == [None, None]


def test_a_prefix_that_ends_in_a_digit() -> None:
    """TORCH_FR_DUMP_TEMP_FILE=/tmp/run42 gives /tmp/run420, /tmp/run421, …"""
    assert ranks(*(f"run42{rank}" for rank in range(16))) == list(range(16))
    # Eight of them could as well be the ranks of the sixth node.
    eight = whose([f"run4{rank}" for rank in range(8)])
    assert [owner.rank for owner in eight] == [None] * 8
    assert eight[0].doubt == "'40' may be rank 40, or rank 0 after a name ending in 4"
    # With the word before it, it is a rank, unless it is as large as a year.
    assert ranks(*(f"nccl_trace_rank_{rank}" for rank in range(40, 48))) == list(range(40, 48))
    assert ranks(*(f"trace_{rank}" for rank in range(40, 48))) == list(range(40, 48))
    assert ranks(*(f"trace_2026{rank}" for rank in range(8))) == [None] * 8


def test_numbered_folders() -> None:
    assert ranks("0/dump.json", "1/dump.json", "2/dump.json") == [0, 1, 2]
    assert ranks("1/dump.json", "2/dump.json") == [None, None]
    assert ranks("a/0/dump.json", "a/1/dump.json", "b/0/dump.json", "b/1/dump.json") == [None] * 4


def test_folders_that_divide_the_ranks_are_hosts() -> None:
    owners = whose([f"rack1-sled{n // 4}/nccl_trace_rank_{n}" for n in range(8)])
    assert [owner.host for owner in owners] == ["rack1-sled0"] * 4 + ["rack1-sled1"] * 4
    # The same ranks again are another attempt, not another host.
    owners = whose([f"try{n // 4}/nccl_trace_rank_{n % 4}" for n in range(8)])
    assert {owner.host for owner in owners} == {None}


def test_sixteen_thousand_names_take_a_moment() -> None:
    sources = [f"node{n // 8}/nccl_trace_rank_{n}" for n in range(16384)]
    random.Random(0).shuffle(sources)
    began = time.process_time()
    owners = whose(sources)
    took = time.process_time() - began
    assert [f"node{o.rank // 8}" if o.rank is not None else "" for o in owners] == [o.host for o in owners]
    # About 0.3 s on a laptop; the bound leaves room for a busy machine.
    assert took < 3


_SHAPES = st.sampled_from(
    [
        "nccl_trace_rank_{}",
        "trace_{}",
        "rank{}",
        "{}",
        "comm_{}",
        "node{h}/nccl_trace_rank_{}",
        "rank_{}/dump",
        "dump{}",
    ]
)
_WORDS = st.from_regex(r"[a-zA-Z]{1,8}", fullmatch=True)
_ADDED = st.builds(
    "".join, st.lists(st.one_of(_WORDS, st.integers(0, 10**10).map(str), st.sampled_from("_-.")), max_size=5)
)


def _is_neutral(added: str) -> bool:
    """It says of no number what it is: a host's, a rank's or, as `t` and `step` do, another one."""
    lowered = added.lower()
    if any(word in _OTHER for word in re.split(r"[^a-z]+", lowered)):
        return False
    return not any(
        word in lowered for word in ("rank", "node", "host", "ip", "vm", "pod", "gpu", "cn", "nid", "c")
    )


@given(_SHAPES, st.integers(2, 40), st.integers(0, 3), _ADDED.filter(_is_neutral))
def test_a_common_folder_or_beginning_never_changes_the_answer(
    shape: str, n: int, first: int, added: str
) -> None:
    sources = [shape.format(rank, h=rank // 8) for rank in range(first, first + n)]
    expected = list(range(first, first + n))
    assert ranks(*sources) == expected
    assert ranks(*(f"{added}/{source}" for source in sources)) == expected
    assert ranks(*(f"{added}_.tar.gz!/{source}" for source in sources)) == expected
    if "/" not in shape:
        assert ranks(*(f"{added}_{source}" for source in sources)) == expected


@given(_SHAPES, st.integers(2, 40), _ADDED.filter(_is_neutral))
def test_a_common_ending_never_changes_the_answer(shape: str, n: int, added: str) -> None:
    sources = [shape.format(rank, h=rank // 8) for rank in range(n)]
    assert ranks(*(f"{source}_{added}x.json" for source in sources)) == list(range(n))


@given(_SHAPES, st.permutations(range(12)))
def test_the_order_of_the_files_does_not_matter(shape: str, order: list[int]) -> None:
    assert ranks(*(shape.format(rank, h=0) for rank in order)) == order


@given(st.lists(st.text(max_size=30), max_size=8))
def test_any_paths_have_an_answer(sources: list[str]) -> None:
    owners = whose(sources)
    assert len(owners) == len(sources)
    assert all((owner.rank is None) == (owner.doubt is not None) for owner in owners)


@given(
    st.lists(st.from_regex(r"(rank|trace|node|dump|[_/.-]|[0-9]{1,9}|tp){1,8}", fullmatch=True), max_size=8)
)
def test_paths_made_of_the_right_words_have_an_answer(sources: list[str]) -> None:
    assert all(owner.rank is None or 0 <= owner.rank < 1 << 20 for owner in whose(sources))


def test_a_negative_number_is_no_rank() -> None:
    """Recorders without a rank write -1."""
    found = whose(["d/nccl_trace_rank_-1", "d/nccl_trace_rank_1", "d/nccl_trace_rank-2"])
    assert [owner.rank for owner in found] == [None, 1, 2]


@pytest.mark.parametrize("source", ["train-4711.out", "logs/slurm-812345.out", "4711.log"])
def test_the_number_of_a_lone_log_is_the_jobs(source: str) -> None:
    (owner,) = whose([source], lone=False)
    assert owner.rank is None


def test_logs_in_a_row_and_those_that_say_rank_have_theirs() -> None:
    assert [o.rank for o in whose([f"log-{rank}.txt" for rank in range(4)], lone=False)] == [0, 1, 2, 3]
    assert [o.rank for o in whose(["rank_3.log"], lone=False)] == [3]
