"""`order_inversion`: ranks make the same calls in different orders, and wait for each other in a circle."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason import data_parallel, gloo_jobs, loops, no_dumps, transfers
from support.reason.building import WORLD, Call, Job, Step, case_of, hidden, loop
from support.reason.witnesses import C10D, Witnesses, best, blamed, suspected

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose


def receiving(*sources: int | None, lines: tuple[int, ...] = ()) -> Verdict:
    """Every rank sits in a receive of a message of the rank given; None: its stack has no arguments."""
    ranks = list(range(len(sources)))
    step: list[Step] = [Call(WORLD, "all_reduce", 64, "a.py:5")]
    witnesses = Witnesses(
        hidden(case_of(Job({WORLD: ranks}, {rank: loop(step, 2) for rank in ranks}, backend="gloo")))
    )
    for rank, source in enumerate(sources):
        line = lines[rank] if lines else 44
        asked = None if source is None else f"recv: src={source}\nrecv: tag=0"
        frames = [("recv", C10D, 2799), ("exchange", "/workspace/transfer.py", line)]
        witnesses.stack(rank, frames, asked=asked)
    return diagnose(witnesses.case).verdicts[0]


def test_pairs_that_receive_from_each_other_at_one_line_all_receive_first() -> None:
    verdict = receiving(1, 0, 3, 2)
    assert (verdict.cause, verdict.confidence) == ("order_inversion", "supported")
    assert blamed(verdict) == [0, 1, 2, 3]
    assert "rank 0 for one of rank 1 and rank 1 for one of rank 0" in verdict.sentence
    assert not verdict.missing_evidence


@pytest.mark.parametrize(
    "sources",
    [(1, 0), (3, 0, 1, 2), (1, 0, 3, None), (1, 0, 0, 2)],
    ids=["one pair", "one ring: somebody may have left out the first send", "not all shown", "a chain"],
)
def test_what_a_left_out_send_explains_as_well_blames_nobody(sources: tuple[int | None, ...]) -> None:
    assert blamed(receiving(*sources)) == []


def test_circles_at_several_lines_blame_nobody() -> None:
    assert blamed(receiving(1, 0, 3, 2, lines=(44, 20, 44, 20))) == []


GROUPS = {WORLD: list(range(8)), "even": [0, 2, 4, 6], "odd": [1, 3, 5, 7]}


WRITERS = (0, 1)


def saved(usual: bool = False, members: bool = True, **more: object) -> Case:
    """Two ranks wait at a barrier after saving, and the others in the next step, for those two.

    `usual`: all of them came to that barrier once before.
    """
    programs: dict[int, list[Step]] = {}
    for rank in range(8):
        mine = "odd" if rank % 2 else "even"
        step: list[Step] = [Call(mine, "all_reduce", 64, "gradients.py:10")]
        barrier: list[Step] = [Call(WORLD, "barrier", 1, "checkpoint.py:14")]
        programs[rank] = [
            Call(WORLD, "all_reduce", 8, "train.py:5"),
            *loop(step, 6),
            *(barrier if usual else []),
            *loop(step, 6),
            *(barrier if rank in WRITERS else []),
            *step,
        ]
    return case_of(Job(GROUPS, programs, backend="gloo"), members=members, **more)  # type: ignore[arg-type]


def test_whole_rings_show_who_made_the_call_that_nobody_else_makes() -> None:
    assert blamed(diagnose(saved()).verdicts[0]) == [0, 1]


@pytest.mark.parametrize("members", [True, False])
@pytest.mark.parametrize("ring", [1, 2, 3, 5])
def test_rings_that_lost_their_beginning_do_not_make_it_an_order_of_all(ring: int, members: bool) -> None:
    for verdict in diagnose(saved(ring=ring, members=members)).verdicts:
        assert set(blamed(verdict)) <= set(WRITERS)
        assert "No order is that of most ranks" not in verdict.sentence


def test_who_has_not_come_by_its_log_alone_may_wait_in_turn() -> None:
    """Nothing tells that rank 7 is a member of the group that its like wait in."""
    witnesses = Witnesses(saved(members=False, lost=[7]))
    for rank in WRITERS:
        witnesses = witnesses.gave_up(rank, 2)
    witnesses = witnesses.answered(7, 1)
    for verdict in diagnose(witnesses.case).verdicts:
        assert set(blamed(verdict)) <= set(WRITERS)


def test_who_may_wait_for_those_that_wait_for_it_is_not_the_end_of_the_trail() -> None:
    """Rank 1 waits for rank 7, which may wait for rank 1, as rank 3 does: its dump is lost."""
    groups = {WORLD: [1, 7], "odd": [1, 3, 7]}
    step: list[Step] = [Call("odd", "all_reduce", 64, "gradients.py:10")]
    programs: dict[int, list[Step]] = {rank: [*loop(step, 4), *step] for rank in (3, 7)}
    programs[1] = [*loop(step, 4), Call(WORLD, "barrier", 1, "checkpoint.py:14"), *step]
    witnesses = (
        Witnesses(case_of(Job(groups, programs, backend="gloo"), lost=[7])).gave_up(1, 1).answered(7, 0)
    )
    for verdict in diagnose(witnesses.case).verdicts:
        assert 7 not in blamed(verdict)


SYNC = Call("0", "all_reduce", 1, "optimizer.py:24")


def swap(rank: int, first: str, site: str = "exchange.py:44") -> list[Step]:
    """With the neighbour of the pair."""
    calls = {
        "send": Call("pp", "send", 64, "exchange.py:40", peer=rank ^ 1),
        "recv": Call("pp", "recv", 64, site, peer=rank ^ 1),
    }
    return [calls[first], calls["recv" if first == "send" else "send"]]


def verdict(ranks: int, sites: dict[int, str], sends: bool = False) -> Verdict:
    """After some good exchanges everybody receives first; `sends`: its send waits behind that."""
    programs: dict[int, list[Step]] = {}
    for rank in range(ranks):
        healthy = loop([*swap(rank, "recv" if rank % 2 else "send"), SYNC], 5)
        last = swap(rank, "recv", sites.get(rank, "exchange.py:44"))
        programs[rank] = [*healthy, *last[: 2 if sends else 1]]
    members = list(range(ranks))
    return diagnose(case_of(Job({"0": members, "pp": members}, programs))).verdicts[0]


def test_two_circles_on_one_line_receive_before_they_send() -> None:
    found = verdict(4, {})
    assert (found.cause, found.confidence) == ("order_inversion", "supported")
    assert [culprit.rank for culprit in found.culprits] == [0, 1, 2, 3]


def test_a_send_behind_the_receive_is_no_send_left_out() -> None:
    found = verdict(2, {1: "backward.py:9"}, sends=True)
    assert (found.cause, found.culprits) == ("order_inversion", [])


def test_receives_at_two_places_may_lack_a_send() -> None:
    found = verdict(2, {1: "backward.py:9"})
    assert (found.cause, found.confidence, found.culprits) == ("skipped_collective", "hypothesis", [])


def test_a_circle_between_two_groups() -> None:
    witnesses = no_dumps.nothing(2)
    for rank, mine, other in ((0, "tp", "dp"), (1, "dp", "tp")):
        witnesses.gave_up(rank, 5, group=mine)
        witnesses.answered(rank, 4, group=other)
    verdict = best(witnesses)
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1])


def shuffled(orders: dict[int, list[int]]) -> Case:
    """Each rank makes calls of these sizes from one line, and the host runs ahead."""
    programs: dict[int, list[Step]] = {
        rank: [Call(WORLD, "all_reduce", size, "sync.py:18") for size in sizes]
        for rank, sizes in orders.items()
    }
    return case_of(Job({WORLD: sorted(orders)}, programs))


def test_every_rank_has_an_order_of_its_own() -> None:
    verdict = best(shuffled({0: [16, 32, 64], 1: [32, 16, 64], 2: [64, 32, 16]}))
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1, 2])


def test_where_two_agree_the_third_has_not_an_order_of_its_own() -> None:
    verdict = best(shuffled({0: [16, 32, 64], 1: [16, 32, 64], 2: [64, 32, 16]}))
    assert set(blamed(verdict)) <= {2}


def test_other_sizes_are_no_other_order() -> None:
    verdict = best(shuffled({0: [16, 32], 1: [32, 17], 2: [64, 16]}))
    assert verdict.cause != "order_inversion"


def test_all_receive_at_one_line() -> None:
    verdict = best(gloo_jobs.transfers(44, 44, 44).case)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("order_inversion", "hypothesis", [])


def test_swapped() -> None:
    swapping: list[Step] = [
        *loop(loops.BODY, 5),
        loops.NORM,
        loops.BACKWARD,
        loops.LOSS,
        *loop(loops.BODY, 2),
    ]
    verdict = loops.verdict_of({**loops.others(4), 2: swapping})
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [2])
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, verdict.divergence.seq) == ("swapped", 16)


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_four_groups_each_rank_in_another_order(backend: str) -> None:
    sides = {"north": [0, 1], "east": [1, 2], "south": [2, 3], "west": [0, 3]}
    mine = {0: ("west", "north"), 1: ("north", "east"), 2: ("east", "south"), 3: ("south", "west")}
    programs: dict[int, list[Step]] = {
        rank: [*data_parallel.STEP, *(data_parallel.all_reduce(64, "sides.py:31", side) for side in order)]
        for rank, order in mine.items()
    }
    verdict = data_parallel.only(case_of(Job({WORLD: [0, 1, 2, 3], **sides}, programs, backend=backend)))
    assert (verdict.cause, verdict.confidence) == ("order_inversion", "established")
    assert blamed(verdict) == [0, 1, 2, 3]
    assert {wait.group.split(" ")[0] for wait in verdict.waits} == set(sides)


def test_two_ranks_that_both_send_first() -> None:
    """Neither's receive is reached: the streams wait for each other, and neither order is the right one."""
    programs: dict[int, list[Step]] = {
        0: [transfers.SYNC, transfers.send(1), transfers.recv(1)],
        1: [transfers.SYNC, transfers.send(0), transfers.recv(0)],
    }
    both = Job({WORLD: [0, 1], "pp": [0, 1]}, programs)
    verdict = diagnose(case_of(both)).verdicts[0]
    assert verdict.hang
    assert blamed(verdict) in ([], [0, 1])


PAIRED = {WORLD: [0, 1, 2, 3], "near": [0, 2], "far": [1, 3]}


def pictured(parts: dict[int, list[bool]]) -> Verdict:
    """Each step of a rank ends in a call with its mate; where it has a picture, one on the world comes before."""
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        mine: Step = Call("far" if rank % 2 else "near", "all_reduce", 9, "train.py:18")
        world: Step = Call(WORLD, "all_reduce", 4, "towers.py:14")
        programs[rank] = [step for has in parts[rank // 2] for step in ([world, mine] if has else [mine])]
    return diagnose(case_of(Job(PAIRED, programs, backend="gloo"))).verdicts[0]


def test_a_call_that_all_go_without_at_times_makes_no_order_of_a_circle() -> None:
    past = [False, True, True, False, False]
    verdict = pictured({0: [*past, True], 1: [*past, False]})
    assert (verdict.cause, blamed(verdict)) != ("order_inversion", [2, 3])
    assert blamed(verdict) == []


def test_calls_that_came_round_in_one_order_show_who_changed_it() -> None:
    verdict = pictured({0: [True] * 5, 1: [True, True, True, True, False]})
    assert blamed(verdict) == [2, 3]


GRID = {"1": [0, 1], "2": [2, 3], "3": [0, 2], "4": [1, 3]}
ROWS_AND_COLUMNS = {"1": "row0", "2": "row1", "3": "col0", "4": "col1"}


def on_a_grid(changed: list[int]) -> Verdict:
    """Each rank reduces over its row and then its column; in the last round those that changed do the other first."""
    programs: dict[int, list[Step]] = {}
    for rank in range(4):
        row: Step = Call("1" if rank < 2 else "2", "all_reduce", 64, "mix.py:8")
        col: Step = Call("4" if rank % 2 else "3", "all_reduce", 8, "mix.py:12")
        last = [col, row] if rank in changed else [row, col]
        programs[rank] = [*loop([row, col], 3), *last]
    return diagnose(case_of(Job(GRID, programs, backend="gloo", descs=ROWS_AND_COLUMNS))).verdicts[0]


def test_where_as_many_kept_their_order_as_changed_it_all_are_in_the_circle() -> None:
    verdict = on_a_grid([1, 2])
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [0, 1, 2, 3])
    assert "No order is that of most ranks" in verdict.sentence


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_like_groups_outside_of_the_circle_show_which_order_is_that_of_most(backend: str) -> None:
    """Two grids of four, and in the second one half changed its order: in the first nobody did."""
    rows, columns = ([[0, 1], [2, 3], [4, 5], [6, 7]], [[0, 2], [1, 3], [4, 6], [5, 7]])
    groups = {
        f"{kind}{i}": pair
        for kind, pairs in zip("rc", (rows, columns), strict=True)
        for i, pair in enumerate(pairs)
    }
    descs = {name: "mesh_row" if name.startswith("r") else "mesh_col" for name in groups}
    programs: dict[int, list[Step]] = {}
    for rank in range(8):
        mine = {name[0]: name for name, pair in groups.items() if rank in pair}
        row: Step = Call(mine["r"], "all_reduce", 64, "mix.py:8")
        col: Step = Call(mine["c"], "all_reduce", 8, "mix.py:12")
        programs[rank] = [*loop([row, col], 3), *([col, row] if rank in (5, 6) else [row, col])]
    verdict = diagnose(case_of(Job(groups, programs, backend=backend, descs=descs))).verdicts[0]
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("order_inversion", "established", [5, 6])


def test_no_circle_where_all_changed_their_order() -> None:
    assert blamed(on_a_grid([0, 1, 2, 3])) == []


FIRST, SECOND = Call("0", "all_reduce", 64, "dp.py:9"), Call("1", "all_reduce", 8, "norm.py:4")


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize(("ranks", "named", "suspected"), [(2, [], [0, 1]), (3, [2], []), (6, [5], [])])
def test_in_the_first_round_only_most_ranks_show_the_order(
    backend: str, ranks: int, named: list[int], suspected: list[int]
) -> None:
    """The last rank comes to two groups of all ranks the other way round; of two, nobody can say which is the other."""
    programs = {rank: [FIRST, SECOND] for rank in range(ranks)} | {ranks - 1: [SECOND, FIRST]}
    every = list(range(ranks))
    found = diagnose(case_of(Job({"0": every, "1": every}, programs, backend=backend))).verdicts[0]
    assert (found.cause, [one.rank for one in found.culprits]) == ("order_inversion", named)
    assert [one.rank for one in found.suspects] == suspected
    assert ("No order is that of most ranks" in found.sentence) == bool(suspected)


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_groups_of_one_family_show_the_order_in_the_first_round(backend: str) -> None:
    """Ranks 0 and 1, a tensor-parallel pair of their own, show how ranks 2 and 3 were to do it."""
    groups = {"0": [0, 1, 2, 3], "1": [0, 1], "2": [2, 3]}
    descs = {"0": "default_pg", "1": "mesh_tp", "2": "mesh_tp"}
    layer = {r: Call("1" if r < 2 else "2", "all_reduce", 64, "layer.py:9") for r in range(4)}
    loss = Call("0", "all_reduce", 8, "loss.py:4")
    programs: dict[int, list[Step]] = {r: [layer[r], loss] for r in range(3)} | {3: [loss, layer[3]]}
    found = diagnose(case_of(Job(groups, programs, backend=backend, descs=descs))).verdicts[0]
    assert (found.cause, found.confidence, [one.rank for one in found.culprits]) == (
        "order_inversion",
        "supported",
        [3],
    )


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_a_ring_of_pairs_has_no_odd_one(backend: str) -> None:
    pairs = {"0": [0, 1], "1": [1, 2], "2": [0, 2]}
    calls = {name: Call(name, "all_reduce", 8, "pairs.py:7") for name in pairs}
    programs: dict[int, list[Step]] = {
        0: [calls["0"], calls["2"]],
        1: [calls["1"], calls["0"]],
        2: [calls["2"], calls["1"]],
    }
    found = diagnose(case_of(Job(pairs, programs, backend=backend))).verdicts[0]
    assert ([one.rank for one in found.culprits], found.confidence) == ([0, 1, 2], "established")


TOWERS = {WORLD: list(range(6)), "even": [0, 2, 4], "odd": [1, 3, 5]}


def averaged(left_out: int, siblings: bool = True) -> Verdict:
    """Four sums in a group of each rank's own, then a roll of all; rank 3 comes to its second one too early."""
    programs: dict[int, list[Step]] = {}
    groups = TOWERS if siblings else {WORLD: [1, 3, 5, 7], "odd": [1, 3, 5]}
    for rank in groups[WORLD]:
        mine: list[Step] = [Call("odd" if rank % 2 else "even", "all_reduce", 64, "wire.py:43")]
        mine = mine if rank < 7 else []
        roll: list[Step] = [Call(WORLD, "all_gather", 6, "wire.py:50")]
        programs[rank] = [*mine * 4, *roll, *mine * (4 - left_out if rank == 3 else 4), *roll]
    return diagnose(case_of(Job(groups, programs, backend="gloo"), members=True)).verdicts[0]


@pytest.mark.parametrize("siblings", [True, False], ids=["by its like", "by its own round before"])
def test_several_calls_are_left_out_and_none_of_them_made_late(siblings: bool) -> None:
    verdict = averaged(3, siblings)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("skipped_collective", "supported", [3])


def test_one_call_too_few_may_come_late() -> None:
    verdict = averaged(1)
    assert blamed(verdict) == [3]
    assert "order_inversion" in {verdict.cause, *(one.cause for one in verdict.alternatives)}


def pair(late: int, healthy: int = 3) -> Verdict:
    """Two groups of pairs; each round sums over the one, then over the other. In the last, rank 3 makes the second sum
    without the first; `late`: the line of that second one."""
    groups = {"rows": [0, 1], "rows2": [2, 3], "columns": [0, 2], "columns2": [1, 3], WORLD: [0, 1, 2, 3]}

    def step(rank: int, last: int = 40) -> list[Step]:
        rows, columns = ("rows", "rows2")[rank // 2], ("columns", "columns2")[rank % 2]
        return [
            *[Call(rows, "all_to_all", 64, "train.py:30")] * 4,
            Call(columns, "all_reduce", 64, "train.py:35"),
            Call(WORLD, "all_reduce", 64, f"train.py:{last}"),
        ]

    programs = {rank: loop(step(rank), healthy + 1) for rank in range(4)}
    programs[3] = [*loop(step(3), healthy), *step(3, late)[4:]]
    descs = {"rows": "rows", "rows2": "rows", "columns": "columns", "columns2": "columns"}
    return diagnose(case_of(Job(groups, programs, backend="gloo", descs=descs))).verdicts[0]


def test_who_stands_behind_the_line_of_the_missing_call_left_it_out() -> None:
    found = pair(40)
    assert (found.cause, found.confidence, blamed(found)) == ("skipped_collective", "supported", [3])


@pytest.mark.parametrize("odd", [0, 2])
def test_who_makes_a_call_of_the_first_time_later_has_not_left_it_out(odd: int) -> None:
    """Both were issued: that the new one would come every other time from now on is no prediction."""
    train, publish = Call(WORLD, "all_reduce", 64, "train.py:5"), Call(WORLD, "all_gather", 1, "writer.py:33")
    programs: dict[int, list[Step]] = {rank: [*loop([train], 8), publish, train] for rank in range(3)}
    programs[odd] = [*loop([train], 8), train, publish]
    found = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs))).verdicts[0]
    assert (found.cause, blamed(found)) == ("order_inversion", [odd])
    assert "skipped" not in found.sentence


def in_a_thread(case: Case, line: int) -> Case:
    """Python began the thread that makes the calls of this line."""
    begins = {"frame": case.frames.height, "function": "_bootstrap", "file": "/usr/lib/python3.11/threading.py",
              "line": 1002, "is_torch": True}  # fmt: skip
    frames = pl.concat([case.frames, pl.DataFrame([begins], schema=case.frames.schema)])
    writer = case.frames.filter(pl.col("line") == line)["frame"][0]
    beneath = pl.when(pl.col("site") == writer).then(
        pl.concat_list("frames", pl.lit(begins["frame"], case.frames.schema["frame"]))
    )
    stacks = case.stacks.with_columns(frames=beneath.otherwise(pl.col("frames")))
    return replace(case, frames=frames, stacks=stacks)


def test_calls_of_two_threads_come_in_any_order() -> None:
    """Behind a writer's back the training makes its next call; who writes faster makes them the other way round."""
    train, publish = Call(WORLD, "all_reduce", 64, "train.py:5"), Call(WORLD, "barrier", 1, "writer.py:33")
    check = Call(WORLD, "all_gather", 8, "train.py:9")
    programs: dict[int, list[Step]] = {rank: [*loop([train], 6), publish, train, check] for rank in range(3)}
    programs[1] = [*loop([train], 6), train, publish, check]
    case = case_of(Job({WORLD: [0, 1, 2]}, programs))
    found = diagnose(in_a_thread(case, 33)).verdicts[0]
    assert (found.cause, found.confidence, blamed(found)) == ("order_inversion", "established", [1])
    assert "Two threads of a rank make them" in found.sentence
    assert found.location is not None and (found.location.file, found.location.line) == (
        "/workspace/writer.py",
        33,
    )


TRAIN, PUBLISH = Call(WORLD, "all_reduce", 64, "train.py:5"), Call("aside", "barrier", 1, "writer.py:33")


def published_late(circle: list[int], backend: str, thread: bool) -> Case:
    """Long ago, rank 1 made the call of a group of the writer's own one step later than the others. Now the last rank
    of these comes to the last two calls in another order."""
    every = list(range(4))
    last: list[Step] = [
        Call("left", "all_reduce", 8, "train.py:40"),
        Call("right", "all_gather", 8, "train.py:44"),
    ]
    steps = [*loop([TRAIN], 4), PUBLISH, *loop([TRAIN], 4)]
    programs: dict[int, list[Step]] = {r: [*steps, *(last if r in circle else [])] for r in every}
    programs[circle[-1]] = [*steps, *reversed(last)]
    groups = {WORLD: every, "aside": every, "left": circle, "right": circle}
    case = case_of(Job(groups, programs, backend=backend))
    record = pl.col("record")
    late = (pl.col("rank") == 1) & record.is_in([4, 5])
    # Who made which of the two first is all that differs: the later one has the number and the time of the other.
    swapped = pl.when(late).then(9 - record.cast(pl.Int64)).otherwise(record)
    apart = (swapped.cast(pl.Int64) - record.cast(pl.Int64)) * 10_000_000
    calls = case.calls.with_columns(
        record=swapped.cast(case.calls.schema["record"]), created_ns=pl.col("created_ns") + apart
    )
    case = replace(case, calls=calls.sort("dump", "record"))
    return in_a_thread(case, 33) if thread else case


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_when_a_thread_made_its_calls_between_those_of_the_program_names_nobody(backend: str) -> None:
    """Of a pair in a circle neither is the odd one; that the writer of one of them was late, all got past."""
    verdict = best(published_late([1, 3], backend, thread=True))
    assert blamed(verdict) == [] and "Ranks 1 and 3 wait for each other" in verdict.sentence
    # Where one thread makes them all, its program was another one from there on.
    assert blamed(best(published_late([1, 3], backend, thread=False))) == [1]


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_who_parts_from_the_others_did_not_part_from_them_at_a_threads_call(backend: str) -> None:
    verdict = best(published_late([0, 1, 2, 3], backend, thread=True))
    assert blamed(verdict) == [3] and verdict.location is not None
    assert (verdict.location.file, verdict.location.line) == ("/workspace/train.py", 44)


def test_a_threads_call_of_a_group_of_its_own_that_is_unfinished_is_where_they_part() -> None:
    every = list(range(4))
    programs: dict[int, list[Step]] = {rank: [*loop([TRAIN], 4), PUBLISH, TRAIN] for rank in every}
    programs[1] = [*loop([TRAIN], 4), TRAIN, PUBLISH]
    verdict = best(in_a_thread(case_of(Job({WORLD: every, "aside": every}, programs)), 33))
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("order_inversion", "established", [1])
    assert "Two threads of a rank make them" in verdict.sentence


def shifted(missed: int, ranks: int = 4, sums: int = 3) -> Verdict:
    """Each round is so many sums of all, and a count on another group that nobody waits for; only the last is waited
    for. `missed`: how many counts the last rank has left out at the start; of one too many, -1. Rings keep the end."""
    count = Call("counts", "all_reduce", 4, "counts.py:7", early=True)
    rounds: list[Step] = [*(Call(WORLD, "all_reduce", 64 + n, "train.py:9") for n in range(sums)), count]
    ends: list[Step] = [Call(WORLD, "broadcast", 2, "train.py:20")]
    waits: list[Step] = [*rounds[:-1], count._replace(early=False)]
    odd = [step for n, step in enumerate(rounds * 9) if step is not count or n >= len(rounds) * missed]
    programs: dict[int, list[Step]] = {rank: [*rounds * 9, *waits] for rank in range(ranks - 1)}
    programs[ranks - 1] = [*odd, *rounds, *ends]
    if missed < 0:
        programs = {rank: [*rounds * 10, *ends] for rank in range(ranks - 1)}
        programs[ranks - 1] = [count, *rounds * 9, *waits]
    every = list(range(ranks))
    return best(
        case_of(Job({WORLD: every, "counts": every}, programs, backend="gloo"), ring=16, frames=False)
    )


@pytest.mark.parametrize(
    ("missed", "cause", "words"),
    [(1, "skipped_collective", "1 call behind"), (2, "skipped_collective", "2 calls behind"),
     (-1, "extra_collective", "1 call ahead")],
)  # fmt: skip
def test_who_has_been_a_call_behind_in_every_kept_round_has_no_other_order(
    missed: int, cause: str, words: str
) -> None:
    verdict = shifted(missed)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == (cause, "supported", [3])
    assert words in verdict.sentence and not verdict.alternatives
    assert verdict.divergence is not None and not verdict.divergence.exact
    assert "counts" in verdict.divergence.group and verdict.missing_evidence


def test_of_two_ranks_nobody_can_say_who_is_behind() -> None:
    verdict = shifted(1, ranks=2)
    assert (verdict.cause, blamed(verdict), suspected(verdict)) == ("undetermined", [], [])
    told = {(one.cause, one.culprits) for one in verdict.alternatives}
    assert told == {("extra_collective", "0"), ("skipped_collective", "1")}


def test_where_the_two_groups_alternate_another_order_in_every_round_looks_alike() -> None:
    verdict = shifted(1, sums=1)
    assert (verdict.cause, blamed(verdict)) == ("skipped_collective", [3])
    assert [one.cause for one in verdict.alternatives] == ["extra_collective", "order_inversion"]


@pytest.mark.parametrize("ring", [None, 6])
def test_who_changes_its_order_in_the_last_round_was_in_step_before(ring: int | None) -> None:
    programs = {rank: [*[FIRST, SECOND] * 6, FIRST, SECOND] for rank in range(4)}
    programs[3] = [*[FIRST, SECOND] * 6, SECOND, FIRST]
    every = list(range(4))
    verdict = best(case_of(Job({"0": every, "1": every}, programs, backend="gloo"), ring=ring))
    assert (verdict.cause, blamed(verdict)) == ("order_inversion", [3])


def of_two_teams(
    *, sites: tuple[str, str] = ("team.py:18", "team.py:18"), family: bool = False, used: bool = False
) -> Verdict:
    """gloo, which lists no members: rank 2 goes through the teams in another order than the others. All are in both."""
    groups = {WORLD: [0, 1, 2, 3], "1": [0, 1, 2, 3], "2": [0, 1, 2, 3]}
    descs = {WORLD: "default_pg", "1": "team-en", "2": "team-en" if family else "team-de"}
    step: list[Step] = loop([Call(WORLD, "all_reduce", 64, "a.py:5")], 8)
    if used:
        groups |= {"1": [0, 1, 3], "2": [2]}
    programs: dict[int, list[Step]] = {
        rank: [
            *step,
            *([Call("2" if rank == 2 else "1", "all_reduce", 8, "team.py:18")] if used else []),
            Call("2" if rank == 2 else "1", "all_reduce", 8, sites[rank == 2]),
        ]
        for rank in range(4)
    }
    stalled = frozenset({("1", 2), ("2", 2)}) if used else frozenset()
    job = Job(groups, programs, backend="gloo", descs=descs, stalled=stalled)
    witnesses = Witnesses(case_of(job, waited_s=700, members=False))
    for rank in range(4):
        file, _, line = sites[rank == 2].partition(":")
        witnesses.stack(rank, [("all_reduce", C10D, 3252), ("average", f"/workspace/{file}", int(line))])
    return diagnose(witnesses.case).verdicts[0]


def test_groups_of_unknown_members_may_share_some_and_the_network_is_not_blamed() -> None:
    verdict = of_two_teams()
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("order_inversion", "hypothesis", [])
    assert verdict.suspects == []
    assert verdict.divergence is not None and verdict.divergence.kind == "cycle"
    assert {one.cause for one in verdict.alternatives} == {"skipped_collective", "network_stalled"}


@pytest.mark.parametrize(
    "what",
    [{"sites": ("team.py:18", "other.py:7")}, {"used": True}, {"used": True, "family": True}],
    ids=[
        "another line",
        "an earlier call has ended, which shows who is in it",
        "so it has of groups of one name",
    ],
)
def test_groups_that_do_different_things_or_share_nobody_tell_of_no_order(what: dict[str, Any]) -> None:
    assert of_two_teams(**what).cause != "order_inversion"


def test_groups_of_one_name_may_be_one_group_that_few_made_at_another_place() -> None:
    verdict = of_two_teams(family=True)
    assert (verdict.cause, verdict.confidence) == ("group_mismatch", "hypothesis")
    # A group of one rank alone is none of a family.
    assert [one.rank for one in verdict.suspects] == [2]
    assert "groups of one name, team-en" in verdict.sentence
    assert {one.cause for one in verdict.alternatives} == {"order_inversion", "network_stalled"}


@pytest.mark.parametrize(("line", "suspects"), [(None, [2]), (18, []), (30, [4])])
def test_who_is_alone_in_a_group_beside_a_rank_without_a_dump_is_not_apart(
    line: int | None, suspects: list[int]
) -> None:
    """Rank 4 left no dump. Where it stands in the call in which rank 2 is, the two may be one group of the family."""
    every = list(range(5))
    step: list[Step] = loop([Call(WORLD, "all_reduce", 64, "a.py:5")], 8)
    programs: dict[int, list[Step]] = {
        rank: [*step, Call("2" if rank in (2, 4) else "1", "all_reduce", 8, "team.py:18")] for rank in every
    }
    descs = {WORLD: "default_pg", "1": "team-en", "2": "team-en"}
    job = Job(dict.fromkeys(descs, every), programs, backend="gloo", descs=descs)
    told = Witnesses(case_of(job, waited_s=700, members=False, lost=[4]))
    for rank in every if line else every[:-1]:
        at = line if line and rank == 4 else 18
        told.stack(rank, [("all_reduce", C10D, 3252), ("average", "/workspace/team.py", at)])
    verdict = best(told)
    assert (verdict.confidence, blamed(verdict), suspected(verdict)) == ("hypothesis", [], suspects)
    assert line == 30 or verdict.cause == "group_mismatch"
