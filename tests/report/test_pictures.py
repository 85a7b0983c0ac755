"""What is drawn, before anybody draws it: small whatever the size of the job, and true to the verdict."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.report.jobs import Case, drawn, unlike, write_job, write_page

from rankandfile.lab.sim.run import simulate
from rankandfile.reason.pictures import grid
from rankandfile.reason.pictures.classes import classes
from rankandfile.reason.pictures.seams import seams
from rankandfile.render.report.payload import blocks, payload

pytestmark = pytest.mark.slow


def columns(moves: list[tuple[int, int]], length: int) -> list[int]:
    """Where each call is drawn."""
    out, shift, rest = [], 0, list(moves)
    for column in range(length):
        while rest and rest[0][0] <= column:
            shift = rest.pop(0)[1]
        out.append(column + shift)
    return out


def tokens(text: str) -> np.ndarray:
    return np.array([ord(letter) for letter in text], np.uint64)


@pytest.mark.parametrize(
    ("normal", "other", "of_normal", "of_other"),
    [
        ("abcabcabc", "abcbcabc", [0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 4, 5, 6, 7, 8]),
        ("abcabcabc", "abcXabcabc", [0, 1, 2, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("abcabcabc", "abcXbcabc", [0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("abcabc", "abcbcabca", [0, 1, 2, 3, 4, 5], [0, 1, 2, 4, 5, 6, 7, 8, 9]),
        ("abcabc", "abcabc", [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]),
    ],
    ids=["skipped", "extra", "replaced", "runs on where the normal one ended", "alike"],
)
def test_calls_that_belong_together_come_below_each_other(
    normal: str, other: str, of_normal: list[int], of_other: list[int]
) -> None:
    ours, theirs = seams(tokens(normal), {7: tokens(other)})
    assert columns(ours, len(normal)) == of_normal
    assert columns(theirs.get(7, ours), len(other)) == of_other


def test_rows_that_have_nothing_in_common_stay_where_they_are() -> None:
    dice = random.Random(3)
    one, other = (np.array([dice.getrandbits(40) for _ in range(300)], np.uint64) for _ in range(2))
    assert seams(one, {1: other}) == ([], {})


def test_two_ranks_apart_make_two_gaps() -> None:
    ours, theirs = seams(tokens("abcabcabc"), {1: tokens("abXcabcabc"), 2: tokens("abcabcYYabc")})
    assert columns(ours, 9) == [0, 1, 3, 4, 5, 6, 9, 10, 11]
    assert columns(theirs[1], 10) == [0, 1, 2, 3, 4, 5, 6, 9, 10, 11]
    assert columns(theirs[2], 11) == [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11]


def test_like_ranks_share_a_row_and_culprits_come_first() -> None:
    ranks = np.arange(6)
    cells = np.array([[1, 2], [1, 2], [1, 3], [1, 2], [1, 3], [1, 2]], np.uint16)
    rows, left_out = grid.merged(ranks, cells, ["", "", "victim", "culprit", "victim", ""], None)
    assert [(row.ranks, row.role, row.cells.tolist()) for row in rows] == [
        ((3,), "culprit", [1, 2]),
        ((0, 1, 5), "", [1, 2]),
        ((2, 4), "victim", [1, 3]),
    ]
    assert left_out == 0


def test_too_many_different_rows_are_merged_by_how_they_end_and_say_so() -> None:
    dice = np.random.default_rng(1)
    cells = dice.integers(1, 4000, (3000, 300)).astype(np.uint16)
    cells[:, 250:] = 9
    cells[1234, 299] = 0
    rows, left_out = grid.merged(
        np.arange(3000), cells, ["culprit" if r == 1234 else "" for r in range(3000)], 299
    )
    assert left_out == 0
    assert [(row.ranks, row.alike) for row in rows[:1]] == [((1234,), True)]
    assert len(rows) == 2 and not rows[1].alike and len(rows[1].ranks) == 2999


def test_a_long_job_shows_its_end_and_where_it_parted() -> None:
    at = grid.window(1, 500_000, 64, None)
    assert (at.first + at.columns - 1, at.later) == (500_000, 0) and at.earlier == at.first - 1
    at = grid.window(1, 500_000, 64, 1_000)
    assert at.first < 1_000 < at.first + at.columns
    assert at.earlier + at.columns + at.later == 500_000


def test_ranks_that_wait_alike_are_one_node_at_any_size() -> None:
    """2,048 tensor-parallel groups of 8: one of them lacks a rank, the others wait for its members in turn."""
    calls = [(tuple(r for r in range(8 * g, 8 * g + 8) if r != 3), (3,) if g == 0 else ()) for g in range(1)]
    calls += [(tuple(range(8 + i, 16384, 8)), (i,)) for i in range(8) if i != 3]
    calls.append((tuple(range(11, 16384, 8)), (3,)))
    kinds = ["all_reduce (tp)", *["all_reduce (dp)"] * 8]
    found = classes(calls, kinds, lambda rank: "culprit" if rank == 3 else "victim", frozenset(), 24)
    sizes = {tuple(ranks[:2]): len(ranks) for ranks in found.ranks.values()}
    assert sizes == {(3,): 1, (0, 1): 7, (8, 9): 14329, (11, 19): 2047}


def test_more_classes_than_can_be_drawn_are_told_apart_less() -> None:
    """A chain of a thousand ranks: each differs from its neighbour, and nobody can read a thousand nodes."""
    calls = [((rank,), (rank + 1,)) for rank in range(1000)]
    found = classes(
        calls, ["recv"] * 1000, lambda rank: "culprit" if rank == 1000 else "victim", frozenset(), 24
    )
    assert len(found.ranks) <= 24
    assert sum(len(ranks) for ranks in found.ranks.values()) == 1001


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("early-stop", {"2"}),
        ("tp-dp-cascade", {"5"}),
        ("killed-oom", {"9"}),
        ("skip-nonfinite-ddp", {"5"}),
        ("raised-logs-only", {"3"}),
        ("network-stalled", {""}),
        ("two-faults", {"2", "7"}),
    ],
)
def test_the_waits_end_in_the_culprit(case_of: Callable[[str], Case], name: str, ends: set[str]) -> None:
    graph = case_of(name)[1].waits
    leaving = {edge.source for edge in graph.edges}
    assert {node.ranks for i, node in enumerate(graph.nodes) if i not in leaving} == ends
    assert not any(edge.cycle for edge in graph.edges)


def test_the_score_opens_on_the_group_in_which_they_parted(tmp_path: Path) -> None:
    """Also where every call that the verdict cites is one of another group."""
    diagnosis, shown = drawn(simulate("skip-nonfinite-3d", tmp_path / "case") / "evidence")
    divergence = diagnosis.verdicts[0].divergence
    assert divergence is not None
    first = shown.score.sheets[0]
    assert (first.title, first.diverged_at) == (f"group {divergence.group}", divergence.seq)


def test_where_no_call_was_recorded_the_graph_says_who_is_waited_for(tmp_path: Path) -> None:
    _, shown = drawn(simulate("init-stuck", tmp_path / "case") / "evidence")
    (edge,) = shown.waits.edges
    assert [(node.ranks, node.role) for node in shown.waits.nodes] == [
        ("0-2,4-7", "victim"),
        ("3", "culprit"),
    ]
    assert (edge.source, edge.target) == (0, 1)


def test_a_circle_is_drawn_as_one(case_of: Callable[[str], Case]) -> None:
    graph = case_of("cycle-on-devices")[1].waits
    after = {graph.nodes[e.source].ranks: graph.nodes[e.target].ranks for e in graph.edges if e.cycle}
    assert len(graph.edges) == 4
    walk = ["0"]
    while len(walk) < 5:
        walk.append(after[walk[-1]])
    assert walk[0] == walk[4] and len(set(walk)) == 4


def test_the_stacks_tell_who_is_stuck(case_of: Callable[[str], Case]) -> None:
    tree = case_of("tp-dp-cascade")[1].stacks
    assert tree.taken_from == "stacks"
    follow = next(node for node in tree.nodes if node.function == "follow")
    assert (follow.ranks, follow.count, follow.culprits) == ("5", 1, 1)
    root = tree.nodes[0]
    assert (root.parent, root.ranks, root.culprits) == (-1, "0-7", 1)
    assert case_of("healthy-ddp")[1].stacks.taken_from == "nothing"


def test_a_thousand_ranks_that_all_differ_stay_below_ten_megabytes(tmp_path: Path) -> None:
    """The worst that 1,024 ranks of 2,000 calls can be: no two rows alike, thousands of kinds of calls."""
    shown = unlike(1024, 2000)
    diagnosis, _ = drawn(write_job(tmp_path / "job"))
    path = write_page(diagnosis, shown, tmp_path / "report.html")
    assert path.stat().st_size < 10_000_000
    data = json.loads(payload(shown))
    assert data["sheets"][0]["tracks"][3]["role"] == "culprit"
    lines = [line for block in blocks(shown) for line in block.lines.split("\n")]
    assert [base64.b64decode(line) for line in lines] == [
        track.cells for track in shown.score.sheets[0].tracks
    ]


def test_a_circle_is_called_one_on_the_page(case_of: Callable[[str], Case]) -> None:
    """And each of its calls is told with its group: none of them is that of all."""
    text = case_of("cycle-on-devices")[2].read_text(encoding="utf-8")
    assert "They wait for each other in a circle" in text and "Diverged in group" not in text
    for side in ("side_north", "side_east", "side_south", "side_west"):
        assert f" of {side} [" in text
