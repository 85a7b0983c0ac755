"""The steps on their own: alignment, loops, contracts, components, meshes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.reason.calls.contracts import contract_of, terms
from rankandfile.reason.calls.mesh_members import mesh_members
from rankandfile.reason.calls.rounds import find_loop, in_loop, predict
from rankandfile.reason.divergence.alignment import align
from rankandfile.reason.waits.components import components


def tokens(text: str) -> np.ndarray:  # type: ignore[type-arg]
    return np.frombuffer(text.encode(), np.uint8).astype(np.uint64)


@given(st.text("abc", max_size=40), st.text("abc", max_size=40))
def test_the_edits_turn_a_beginning_of_one_into_the_other(one: str, other: str) -> None:
    a, b = tokens(one), tokens(other)
    edits = align(a, b)
    assert edits is not None
    made: list[int] = []
    position = 0
    for edit in edits:
        made += a[position : edit.a_start].tolist()
        made += b[edit.b_start : edit.b_stop].tolist()
        position = edit.a_stop
    made += a[position : position + len(b) - len(made)].tolist()
    assert made == b.tolist()


@given(st.text("ab", min_size=1, max_size=30), st.data())
def test_one_dropped_call_is_one_edit(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    edits = align(tokens(text), tokens(text[:at] + text[at + 1 :]))
    assert edits is not None
    assert sum(e.a_stop - e.a_start + e.b_stop - e.b_start for e in edits) <= 1


def test_sequences_with_nothing_in_common_are_given_up() -> None:
    assert align(tokens("a" * 200), tokens("b" * 200)) is None


def test_the_loop_is_the_step_and_not_its_last_calls() -> None:
    loop = find_loop(tokens("init" + "fwdbbbb" * 6 + "fwdbbbb"))
    assert loop is not None
    assert loop.period == 7
    assert predict(tokens("abcabcab"), 4).tolist() == tokens("cabc").tolist()


@given(st.integers(2, 6), st.integers(4, 8), st.integers(1, 3))
def test_where_a_sequence_falls_out_of_its_loop(period: int, times: int, extra: int) -> None:
    body = "abcdefgh"[:period]
    text = body * times
    assert in_loop(tokens(text)) == len(text)
    assert in_loop(tokens(text + "x" * extra)) == len(text)


@pytest.mark.parametrize(
    ("op", "canonical"),
    [
        ("_all_gather_base", "all_gather"),
        ("all_gather_into_tensor_coalesced", "all_gather"),
        ("allreduce_coalesced", "all_reduce"),
        ("all_reduce_barrier", "barrier"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("quantum_reduce", "quantum_reduce"),
    ],
)
def test_names_of_operations(op: str, canonical: str) -> None:
    assert contract_of(op).op == canonical


def shape(given: list[list[int]], got: list[list[int]], dtype: str = "Float") -> dict[str, object]:
    return {"in_sizes": given, "out_sizes": got, "in_dtypes": [dtype], "out_dtypes": [dtype]}


def test_what_may_differ() -> None:
    same = [
        ("all_reduce", shape([[2, 3]], [[2, 3]]), shape([[6]], [[6]])),
        ("all_gather", shape([[2]], [[2], [3]]), shape([[3]], [[2], [3]])),
        ("gather", shape([[4]], [[4], [4]]), shape([[4]], [])),
        ("scatter", shape([[4], [4]], [[4]]), shape([], [[4]])),
        ("all_to_all", shape([[7]], [[9]]), shape([[9]], [[7]])),
    ]
    for op, one, other in same:
        assert terms(op, one) == terms(op, other), op
    assert terms("all_reduce", shape([[2]], [[2]])) != terms("all_reduce", shape([[3]], [[3]]))
    assert terms("all_reduce", shape([[2]], [[2]])) != terms("all_reduce", shape([[2]], [[2]], "Half"))
    assert terms("all_gather", shape([[2]], [[2], [4]])) != terms("all_gather", shape([[3]], [[3], [3]]))
    assert terms("reduce_scatter", shape([[2], [4]], [[2]])) != terms(
        "reduce_scatter", shape([[4], [2]], [[4]])
    )
    assert terms("all_gather", shape([[3]], [[3], [3]])) == terms("_all_gather_base", shape([[3]], [[6]]))
    assert terms("split", shape([[3]], [])) == terms("split", shape([], []))
    assert terms("quantum_reduce", shape([[2]], [[2]])) == terms("quantum_reduce", shape([[3]], [[3]]))


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40))
def test_components_are_what_reaches_each_other(edges: list[tuple[int, int]]) -> None:
    arrows: list[list[int]] = [[] for _ in range(12)]
    for start, end in edges:
        arrows[start].append(end)
    reach = np.eye(12, dtype=bool)
    for start, end in edges:
        reach[start, end] = True
    for via in range(12):
        reach |= np.outer(reach[:, via], reach[via])
    part_of = {node: i for i, part in enumerate(components(arrows)) for node in part}
    for a in range(12):
        for b in range(12):
            assert (part_of[a] == part_of[b]) == bool(reach[a, b] and reach[b, a])


def test_a_mesh_tells_its_members_only_if_all_fits() -> None:
    names = {0: "1", 1: "2", 2: "3", 3: "4"}
    descs = {0: "mesh_dp", 1: "mesh_dp", 2: "mesh_tp", 3: "mesh_tp"}
    assert mesh_members(names, descs, {0: {0}, 2: {1}}, 4) == {0: [0, 2], 1: [1, 3], 2: [0, 1], 3: [2, 3]}
    assert mesh_members(names, descs, {0: {1}}, 4) == {}, "rank 1 is not where the mesh would put it"
    assert mesh_members(names, descs, {}, 8) == {}, "the sizes do not multiply to the job's"


def test_groups_of_a_mesh_of_three_dimensions_are_laid_out_as_those_who_used_them_show() -> None:
    descs = dict(enumerate(["mesh_pp"] * 4 + ["mesh_dp"] * 4 + ["mesh_tp"] * 4))
    names = {group: str(group + 1) for group in descs}
    older = mesh_members(names, descs, {1: {2}}, 8)
    newer = mesh_members(names, descs, {1: {5}}, 8)
    assert (older[1], newer[1]) == ([2, 6], [1, 5])
    either = mesh_members(names, descs, {0: {4}}, 8)
    assert either[0] == [0, 4] and 1 not in either, "nothing tells who is in the second"
