"""One call left out, put in or replaced, in any program of nested rounds: exactly that one is found, however early."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.examples import examples

from rankandfile.reason.calls.call_table import CallTable
from rankandfile.reason.divergence.paths import GroupPaths, paths_of_group
from rankandfile.reason.divergence.track_difference import TrackDifference


class Made(NamedTuple):
    """What is asked for, and the path that it comes by."""

    terms: int
    path: int


Program = list[Made]

NEW = 900
OWN = 1000
"""Paths of rank 0's own, which makes some of the calls from another line than its peers do."""


def nested(chance: random.Random, at_least: int = 0) -> Program:
    """Epochs of steps, with runs of like calls, a metric every few steps and a validation at the end of an epoch."""
    kinds = chance.randint(1, 3)
    calls = [Made(chance.randint(1, kinds), path) for path in range(1, 30)]
    body = [call for call in calls[: chance.randint(1, 5)] for _ in range(chance.choice((1, 1, 1, 4)))]
    every, metric = chance.randint(2, 7), calls[10 : 10 + chance.randint(0, 2)]
    evaluation = calls[20 : 20 + chance.randint(0, 3)] * chance.randint(1, 4)
    steps = chance.randint(3, 25)
    program: Program = [calls[28]] * chance.randint(0, 2)
    epochs = max(chance.randint(2, 5), at_least // max(1, steps * len(body)))
    for epoch in range(epochs):
        for step in range(steps):
            program += [*body, *(metric if (epoch * steps + step) % every == 0 else [])]
        program += evaluation
    return program if len(program) > 2 * FOLLOWED else nested(chance, at_least)


def unseen(program: Program, other: Program) -> bool:
    """Of a run of like calls one was left out or put in: as far as both go they are the same, or one comes by a path of
    its own as a legal other way would."""
    pairs = zip(program, other, strict=False)
    return all(one == two or (one.terms == two.terms and two.path == NEW) for one, two in pairs)


def table(programs: dict[int, Program], ring: int | None = None) -> CallTable:
    rows = [
        {"rank": rank, "group": 0, "slot": slot, "terms": made.terms, "token": made.terms << 32 | made.path}
        for rank, program in programs.items()
        for slot, made in list(enumerate(program, 1))[-ring if ring else 0 :]
    ]
    calls = pl.DataFrame(rows, schema_overrides={"token": pl.UInt64}).with_columns(cut=pl.lit(False))
    return CallTable(calls, [], (), frozenset())


def by_role(program: Program) -> Program:
    return [made._replace(path=made.path + OWN) if made.path % 3 == 0 else made for made in program]


def found(paths: GroupPaths | None, rank: int) -> TrackDifference:
    assert paths is not None
    assert rank not in paths.normal.ranks
    (diverged,) = paths.diverged
    assert diverged.ranks == (rank,)
    assert diverged.difference is not None
    return diverged.difference


seeds = st.integers(0, 1 << 32)
FOLLOWED = 8
"""Calls that come after the fault: the last ones of a program show none."""


def faulty(program: Program, fault: str, at: int, chance: random.Random) -> Program:
    if fault == "skipped":
        return program[:at] + program[at + 1 :]
    new = chance.choice([Made(program[at].terms, NEW), chance.choice(program)])
    return [*program[:at], new, *program[at:]]


def explains(difference: TrackDifference, normal: Program, other: Program) -> bool:
    at = difference.slot - 1
    if difference.kind == "skipped":
        return normal[:at] + normal[at + 1 :] == other
    return difference.kind == "extra" and other[:at] + other[at + 1 :] == normal


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(seeds, st.sampled_from(["skipped", "extra"]), st.integers(3, 8), st.booleans())
def test_exactly_that_one_is_found(seed: int, fault: str, ranks: int, roles: bool) -> None:
    chance = random.Random(seed)
    program = nested(chance)
    at = chance.randrange(1, len(program) - FOLLOWED)
    other = faulty(program, fault, at, chance)
    rank = chance.randrange(1, ranks)
    programs = {r: by_role(program) if roles and r == 0 else program for r in range(ranks)} | {rank: other}
    if unseen(program, other) or (roles and ranks < 4):
        return
    difference = found(paths_of_group(table(programs), 0), rank)
    normal = programs[min(set(programs) - {0, rank})]
    assert (difference.kind, difference.length) == (fault, 1)
    assert explains(difference, normal, other), (at, difference)


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(seeds, st.sampled_from(["skipped", "extra", "replaced"]), st.integers(3, 8))
def test_the_earliest_point_where_the_job_stops_soon_after(seed: int, fault: str, ranks: int) -> None:
    """Nobody goes past a call that others ask something else for: little or nothing may follow the fault."""
    chance = random.Random(seed)
    program = nested(chance)
    at = chance.randrange(1, len(program) - FOLLOWED)
    replaced = [*program[:at], Made(7, NEW), *program[at + 1 :]]
    other = replaced if fault == "replaced" else faulty(program, fault, at, chance)
    differs = [i for i, (one, two) in enumerate(zip(program, other, strict=False)) if one != two]
    stops = [i for i in differs if program[i].terms != other[i].terms]
    if not stops:
        return
    programs = {r: (other if r == 0 else program)[: stops[0] + 1] for r in range(ranks)}
    difference = found(paths_of_group(table(programs), 0), 0)
    assert difference.slot == differs[0] + 1


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(seeds, st.sampled_from(["skipped", "extra"]), st.integers(3, 5))
def test_also_in_rings_that_lost_their_beginning(seed: int, fault: str, ranks: int) -> None:
    chance = random.Random(seed)
    program = nested(chance, 400)
    ring = len(program) // 2
    at = chance.randrange(len(program) - ring + 60, len(program) - FOLLOWED)
    other = faulty(program, fault, at, chance)
    if unseen(program, other):
        return
    difference = found(
        paths_of_group(table(dict.fromkeys(range(1, ranks), program) | {0: other}, ring), 0), 0
    )
    assert (difference.kind, difference.length) == (fault, 1)
    assert explains(difference, program, other), (at, difference)


@pytest.mark.parametrize("fault", ["skipped", "extra"])
def test_early_in_twenty_thousand_calls_and_quickly(fault: str) -> None:
    chance = random.Random(5)
    program = nested(chance, 20_000)[:20_000]
    other = faulty(program, fault, 61, chance)
    calls = table({0: other, 1: program, 2: program})
    began = time.process_time()
    difference = found(paths_of_group(calls, 0), 0)
    assert time.process_time() - began < 5
    assert (difference.kind, difference.length) == (fault, 1)
    assert explains(difference, program, other)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(seeds, st.integers(30, 150))
def test_a_stretch_longer_than_any_number_of_edits(seed: int, length: int) -> None:
    chance = random.Random(seed)
    program = [*nested(chance, 600)]
    at = chance.randrange(40, 80)
    evaluation = [Made(1, 500 + i) for i in range(length)]
    whole = [*program[:at], *evaluation, *program[at:]]
    # Where all behind it agrees as it stands, the evaluation may as well be the other way of an `if`.
    assume(any(one != two for one, two in zip(whole[at + length :], program[at + length :], strict=False)))
    difference = found(paths_of_group(table({0: whole, 1: whole, 2: program}), 0), 2)
    assert (difference.kind, difference.slot, difference.length) == ("skipped", at + 1, length)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(seeds, st.booleans())
def test_two_ranks_their_own_rounds_tell(seed: int, first: bool) -> None:
    """A call of every step, left out once by one of two: each step before it had it."""
    chance = random.Random(seed)
    body = [Made(1, path) for path in range(1, chance.randint(3, 6))]
    program = body * chance.randint(12, 40)
    at = chance.randrange(4 * len(body), len(program) - FOLLOWED)
    other = program[:at] + program[at + 1 :]
    paths = paths_of_group(table({int(first): other, int(not first): program}), 0)
    difference = found(paths, int(first))
    assert (difference.kind, difference.slot, difference.length) == ("skipped", at + 1, 1)
    assert paths is not None
    assert paths.decided_by == "history"
