"""Ranks that took different paths: skipped, extra, swapped, replaced, left early; and what is no departure at all."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from support.reason.building import Call, Job, Step, case_of, loop

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

WORLD = "0"
BACKWARD = Call(WORLD, "all_reduce", 6436, "trainer.py:63")
NORM = Call(WORLD, "all_reduce", 1, "optimizer.py:24")
LOSS = Call(WORLD, "all_gather", 8, "metrics.py:11")
BODY: list[Step] = [BACKWARD, NORM, LOSS]


def verdict_of(
    programs: dict[int, list[Step]], backend: str = "nccl", ring: int | None = None, **more: bool
) -> Verdict:
    job = Job({WORLD: sorted(programs)}, programs, backend=backend)
    diagnosis = diagnose(case_of(job, ring=ring, **more))
    assert len(diagnosis.verdicts) == 1
    return diagnosis.verdicts[0]


def culprits(verdict: Verdict) -> list[int]:
    return [c.rank for c in verdict.culprits]


def others(size: int, steps: int = 8) -> dict[int, list[Step]]:
    return {rank: loop(BODY, steps) for rank in range(size)}


@pytest.mark.parametrize("backend", ["gloo", "nccl"])
@pytest.mark.parametrize("frames", [True, False])
def test_skipped(backend: str, frames: bool) -> None:
    skipping: list[Step] = [*loop(BODY, 5), BACKWARD, LOSS, *loop(BODY, 2)]
    verdict = verdict_of({**others(4), 3: skipping}, backend, frames=frames)
    assert (verdict.cause, culprits(verdict)) == ("skipped_collective", [3])
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, verdict.divergence.seq, verdict.divergence.exact) == (
        "skipped",
        17,
        True,
    )
    assert verdict.divergence.place == "step 6 of this loop, after its 1st all_reduce"
    assert "one behind" in verdict.sentence


def test_extra() -> None:
    adding: list[Step] = [
        *loop(BODY, 5),
        BACKWARD,
        Call(WORLD, "broadcast", 1, "save.py:12"),
        NORM,
        LOSS,
        *loop(BODY, 2),
    ]
    verdict = verdict_of({**others(4), 0: adding})
    assert (verdict.cause, culprits(verdict)) == ("extra_collective", [0])
    assert verdict.divergence is not None and verdict.divergence.seq == 17
    assert verdict.location is not None and verdict.location.file.endswith("save.py")


def test_swapped() -> None:
    swapping: list[Step] = [*loop(BODY, 5), NORM, BACKWARD, LOSS, *loop(BODY, 2)]
    verdict = verdict_of({**others(4), 2: swapping})
    assert (verdict.cause, culprits(verdict)) == ("order_inversion", [2])
    assert verdict.divergence is not None
    assert (verdict.divergence.kind, verdict.divergence.seq) == ("swapped", 16)


def test_only_the_call_sites_tell_a_shift_by_one() -> None:
    """The same operation and size everywhere: nothing mismatches, and one call is missing in the end."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"layers.py:{line}") for line in (10, 20, 30, 40)]
    skipping: list[Step] = [*loop(body, 5), body[0], body[2], body[3], *loop(body, 4)]
    verdict = verdict_of({**{r: loop(body, 10) for r in range(4)}, 1: skipping})
    assert (verdict.cause, culprits(verdict)) == ("skipped_collective", [1])
    assert verdict.divergence is not None and verdict.divergence.seq == 22
    unseen = verdict_of({**{r: loop(body, 10) for r in range(4)}, 1: skipping}, frames=False)
    assert culprits(unseen) == [1], "that it is one call short is certain all the same"


def test_the_ring_lost_the_beginning_of_the_shift() -> None:
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"layers.py:{line}") for line in (10, 20, 30, 40)]
    skipping: list[Step] = [*loop(body, 5), body[0], body[2], body[3], *loop(body, 14)]
    verdict = verdict_of({**{r: loop(body, 20) for r in range(4)}, 1: skipping}, ring=30)
    assert (verdict.cause, culprits(verdict)) == ("skipped_collective", [1])
    assert verdict.divergence is not None and not verdict.divergence.exact
    assert "history before seq 51 is lost on ranks 0-3" in verdict.sentence
    assert (verdict.location, verdict.confidence) == (None, "supported"), "which call it was is lost"


def test_the_ring_lost_the_call_that_was_one_too_many() -> None:
    """What the rank made where the rings begin is no call that the others never make."""
    body: list[Step] = [Call(WORLD, "all_reduce", 64, f"layers.py:{line}") for line in (10, 20, 30, 40)]
    adding: list[Step] = [*loop(body, 5), body[0], Call(WORLD, "all_reduce", 64, "save.py:12"), *body[1:]]
    verdict = verdict_of({**{r: loop(body, 20) for r in range(4)}, 1: [*adding, *loop(body, 14)]}, ring=30)
    assert (verdict.cause, culprits(verdict)) == ("extra_collective", [1])
    assert "1 call ahead since before the oldest call that the rings kept" in verdict.sentence
    assert "history before seq 52 is lost on ranks 0-3" in verdict.sentence
    assert (verdict.location, verdict.confidence) == (None, "supported")
    assert any("history before seq 52" in missing.what for missing in verdict.missing_evidence)


def test_another_operation_from_the_same_line() -> None:
    """A helper for all operations: only the operation tells the calls apart."""
    other: list[Step] = [*loop(BODY, 5), BACKWARD._replace(op="broadcast")]
    verdict = verdict_of({**others(4), 1: other})
    assert (verdict.hang, verdict.cause, culprits(verdict)) == (True, "different_collective", [1])
    for size in (2, 3):
        few = verdict_of({**others(size), 1: other})
        assert (few.hang, culprits(few)) == (True, []), "two against one is no majority"


def test_an_operation_that_is_not_known_is_compared_by_name_and_said() -> None:
    new = Call(WORLD, "quantum_reduce", 8, "new.py:3")
    body: list[Step] = [new, BACKWARD]
    odd: list[Step] = [*loop(body, 4), new._replace(size=9), BACKWARD]
    job = Job({WORLD: [0, 1, 2, 3]}, {**{r: loop(body, 5) for r in range(4)}, 2: odd})
    assert diagnose(case_of(job)).verdicts[0].cause != "size_mismatch"
    job = Job(
        {WORLD: [0, 1, 2, 3]}, {**{r: loop(body, 6) for r in range(4)}, 2: [*loop(body, 4), *body[1:] * 2]}
    )
    diagnosis = diagnose(case_of(job))
    assert culprits(diagnosis.verdicts[0]) == [2]
    assert any("quantum_reduce" in str(note) and "by its name only" in note.what for note in diagnosis.notes)
    known = diagnose(case_of(Job({WORLD: [0, 1]}, others(2))))
    assert not any("name only" in note.what for note in known.notes)


def test_the_step_is_told_where_the_group_has_one_call_per_step() -> None:
    """The loop shows only in all calls of a rank together."""
    groups = {WORLD: [0, 1, 2, 3], "side": [0, 1, 2, 3]}
    body: list[Step] = [BACKWARD, NORM, Call("side", "all_gather", 8, "metrics.py:30")]
    programs: dict[int, list[Step]] = {rank: loop(body, 8) for rank in range(4)}
    programs[3] = [*loop(body, 5), BACKWARD, NORM]
    verdict = diagnose(case_of(Job(groups, programs, backend="gloo"))).verdicts[0]
    assert culprits(verdict) == [3]
    assert verdict.divergence is not None
    assert verdict.divergence.place == "step 6 of this loop, after its 2nd all_reduce"


def test_numbers_that_nothing_is_recorded_of_do_not_break_the_loop() -> None:
    """A monitored barrier of gloo takes two numbers of every member and leaves no record."""
    job = Job({WORLD: [0, 1, 2, 3]}, {**others(4), 1: loop(BODY, 6)}, backend="gloo")
    case = case_of(job)
    number = pl.col("seq") + pl.when(pl.col("seq") > 7).then(2).otherwise(0)
    verdict = diagnose(replace(case, calls=case.calls.with_columns(number.alias("seq")))).verdicts[0]
    assert culprits(verdict) == [1]
    assert verdict.divergence is not None
    assert (verdict.divergence.seq, verdict.divergence.place) == (
        21,
        "step 7 of this loop, at its first call",
    )


def test_the_round_is_told_where_no_two_steps_are_alike() -> None:
    """A metric every second step, a checkpoint every third: nothing repeats as a whole."""
    saved = Call(WORLD, "barrier", 1, "checkpoint.py:14")

    def steps(count: int) -> list[Step]:
        made: list[Step] = []
        for step in range(count):
            made += [BACKWARD, NORM, *([LOSS] if step % 2 else []), *([saved] if step % 3 == 2 else [])]
        return made

    verdict = verdict_of({**{rank: steps(11) for rank in range(4)}, 1: [*steps(9), BACKWARD]}, "gloo")
    assert culprits(verdict) == [1]
    assert verdict.divergence is not None
    assert verdict.divergence.place == "round 10 of the loop around trainer.py:63, after its 1st all_reduce"


def test_the_same_collective_from_two_places_is_no_departure() -> None:
    """Rank 0 has its own branch for one call and stays in step: its absence elsewhere is what counts."""
    own: list[Step] = [BACKWARD._replace(site="trainer.py:70"), NORM, LOSS]
    verdict = verdict_of({**others(4), 0: loop(own, 8), 2: loop(BODY, 6)})
    assert culprits(verdict) == [2]
    healthy = verdict_of({**others(4), 0: loop(own, 8)})
    assert healthy.cause == "no_hang"


def test_two_ranks_the_loop_tells_who_departed() -> None:
    skipping: list[Step] = [*loop(BODY, 5), BACKWARD, LOSS, *loop(BODY, 2)]
    for swap in (False, True):
        pair = [loop(BODY, 8), skipping]
        programs = dict(enumerate(reversed(pair) if swap else pair))
        verdict = verdict_of(programs)
        assert culprits(verdict) == [0 if swap else 1]


def test_two_ranks_and_nothing_tells() -> None:
    one: list[Step] = [BACKWARD, NORM]
    other: list[Step] = [BACKWARD, LOSS]
    verdict = verdict_of({0: one, 1: other})
    assert culprits(verdict) == []
    assert {a.culprits for a in verdict.alternatives} == {"0", "1"}
    size = verdict_of({0: [BACKWARD, NORM], 1: [BACKWARD, NORM._replace(size=2)]})
    assert (size.cause, culprits(size)) == ("size_mismatch", [])


def test_dtype() -> None:
    odd: list[Step] = [*loop(BODY, 5), BACKWARD, NORM._replace(dtype="Double"), LOSS]
    verdict = verdict_of({**others(4), 1: odd})
    assert (verdict.cause, culprits(verdict)) == ("dtype_mismatch", [1])


def test_the_many_did_not_come() -> None:
    """One rank waits alone, and seven are done: nobody is blamed, both readings are named."""
    verdict = verdict_of({**others(8, 6), 0: [*loop(BODY, 6), Call(WORLD, "all_reduce", 1, "save.py:12")]})
    assert verdict.hang
    assert culprits(verdict) == []
    assert {a.culprits for a in verdict.alternatives} == {"0", "1-7"}


def test_a_skip_in_one_group_jams_another() -> None:
    """Rank 3 leaves out its TP call and goes on to the world's: a circle, and one culprit."""
    groups = {WORLD: [0, 1, 2, 3], "tp0": [0, 1], "tp1": [2, 3]}

    def body(rank: int) -> list[Step]:
        return [Call(f"tp{rank // 2}", "all_reduce", 2048, "layers.py:15"), NORM, LOSS]

    programs = {rank: loop(body(rank), 6) for rank in range(4)}
    programs[3] = [*loop(body(3), 4), NORM, LOSS, *body(3)]
    for backend in ("gloo", "nccl"):
        job = Job(groups, programs, backend=backend, descs={"tp0": "mesh_tp", "tp1": "mesh_tp"})
        verdict = diagnose(case_of(job)).verdicts[0]
        assert culprits(verdict) == [3], (backend, verdict.sentence)


def test_two_faults_are_two_verdicts() -> None:
    groups = {"a": [0, 1, 2, 3], "b": [4, 5, 6, 7]}
    programs: dict[int, list[Step]] = {}
    for rank in range(8):
        body: list[Step] = [Call("a" if rank < 4 else "b", "all_reduce", 64, "layers.py:15")]
        programs[rank] = loop(body, 3 if rank == 1 else 4 if rank == 6 else 6)
    found = diagnose(case_of(Job(groups, programs))).verdicts
    assert sorted(culprits(v) for v in found) == [[1], [6]]


def test_every_verdict_cites_evidence_that_resolves() -> None:
    job = Job({WORLD: [0, 1, 2, 3]}, {**others(4), 3: [*loop(BODY, 5), BACKWARD, LOSS]})
    case = case_of(job)
    diagnosis = diagnose(case)
    verdict = diagnosis.verdicts[0]
    cited = {*verdict.evidence, *(i for wait in verdict.waits for i in wait.evidence)}
    assert cited
    assert cited <= {e.id for e in diagnosis.evidence}
    assert all(case.evidence(i) is not None for i in cited)


def test_two_against_one_in_the_last_call_is_no_proof() -> None:
    """Two of three may both be a call ahead by something that looked like any other call."""
    programs: dict[int, list[Step]] = {rank: loop([BACKWARD], 5) for rank in range(3)}
    programs[1] = [*loop([BACKWARD], 4), BACKWARD._replace(size=1, site="inventory.py:12")]
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs))).verdicts[0]
    assert verdict.hang
    assert (verdict.cause, culprits(verdict)) == ("undetermined", [])
    assert {a.culprits for a in verdict.alternatives} == {"0,2", "1"}


def test_who_left_the_common_path_first_where_everyone_ends_on_another() -> None:
    """Rank 2 repeats a sum; from then on the others' values are wrong, and each repeats sums of its own."""
    again = BACKWARD._replace(site="average.py:30")
    last = BACKWARD._replace(size=1, site="inventory.py:12")
    programs: dict[int, list[Step]] = {
        0: [*loop([BACKWARD], 6), again, BACKWARD, again, BACKWARD, BACKWARD],
        1: [*loop([BACKWARD], 7), again, BACKWARD, again, last],
        2: [*loop([BACKWARD], 5), again, BACKWARD, again, BACKWARD, BACKWARD, again],
    }
    verdict = diagnose(case_of(Job({WORLD: [0, 1, 2]}, programs))).verdicts[0]
    assert (verdict.cause, culprits(verdict)) == ("extra_collective", [2])
    assert verdict.divergence is not None and verdict.divergence.seq == 6
