"""A group is its name and its members; a process's own numbers join nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.evidence.sample_dumps import (
    NOW,
    REDUCE,
    WORLD,
    call,
    case_of,
    case_of_objects,
    job,
    one_rank,
    plain,
)

from rankandfile.lab.flight_writer_types import Dump, GroupConfig, GroupStatus
from rankandfile.model.case import Case


def groups(case: Case) -> dict[tuple[str, tuple[int, ...] | None], str | None]:
    return {
        (row["name"], None if row["members"] is None else tuple(row["members"])): row["members_from"]
        for row in case.groups.iter_rows(named=True)
    }


def group_of(case: Case, rank: int, desc: str) -> set[int]:
    wanted = case.calls.filter(case.calls["rank"] == rank).join(case.groups, on="group")
    return set(wanted.filter(wanted["desc"] == desc)["group"].to_list())


def renumbered(dump: Dump, numbers: dict[int, int]) -> Dump:
    kinds = [kind._replace(pg_id=numbers[kind.pg_id]) for kind in dump.kinds]
    status = {str(numbers[int(key)]): value for key, value in dump.pg_status.items()}
    return replace(dump, kinds=kinds, pg_status=status)


def test_local_numbers_differ_between_ranks_and_join_nothing() -> None:
    dumps = job()
    dumps[1] = renumbered(dumps[1], {0: 1, 1: 0})
    dumps[2] = renumbered(dumps[2], {0: 5, 1: 9})
    usual, mixed = case_of(job()), case_of(dumps)
    for name in ("calls", "groups", "statuses"):
        assert mixed.tables()[name].equals(usual.tables()[name]), name


def test_counters_go_to_the_group_that_the_rank_itself_means() -> None:
    dump = renumbered(replace(one_rank(0), pg_status={"0": GroupStatus(7, 6, 5)}), {0: 3, 1: 0})
    case = case_of({0: dump})
    row = case.statuses.row(0, named=True)
    assert {row["group"]} == group_of(case, 0, "default_pg")
    assert (row["last_enqueued"], row["last_started"], row["last_completed"]) == (7, 6, 5)


def test_none_yet_is_null_not_minus_one() -> None:
    case = case_of({0: replace(one_rank(0), pg_status={"0": GroupStatus(3, -1, -1)})})
    assert case.statuses.select("last_enqueued", "last_started", "last_completed").row(0) == (3, None, None)


def test_one_name_with_different_members_is_different_groups() -> None:
    """Ranks that build different groups at the same moment give them the same name."""
    dumps = {}
    for rank, dump in job().items():
        pair = (0, 1) if rank < 2 else (2, 3)
        kinds = [kind._replace(group="1") if kind.pg_id else kind for kind in dump.kinds]
        dumps[rank] = replace(
            dump, kinds=kinds, pg_config={"0": WORLD, "1": GroupConfig("1", "mesh_tp", pair)}
        )
    case = case_of(dumps)
    assert groups(case) == {
        ("0", (0, 1, 2, 3)): "recorded",
        ("1", (0, 1)): "recorded",
        ("1", (2, 3)): "recorded",
    }
    assert group_of(case, 0, "mesh_tp") == group_of(case, 1, "mesh_tp") != group_of(case, 2, "mesh_tp")


def test_a_rank_without_configuration_borrows_the_only_fitting_one() -> None:
    dumps: dict[int, Any] = {rank: plain(dump) for rank, dump in job().items()}
    dumps[1] = dumps[1] | {"pg_config": {}}
    case = case_of_objects(dumps)
    assert groups(case) == groups(case_of(job()))


def test_a_configuration_without_the_rank_itself_is_not_borrowed() -> None:
    kinds = [kind._replace(group="1") for kind in one_rank(3).kinds]
    dumps: dict[int, Any] = {
        0: plain(one_rank(0)),
        3: plain(replace(one_rank(3), kinds=kinds)) | {"pg_config": {}},
    }
    found = groups(case_of_objects(dumps))
    assert found["1", (0, 1)] == "recorded"
    assert found["1", (0, 3)] == "inferred"


@pytest.mark.parametrize(
    ("ranks", "size"),
    [([0], 1), ([0, 1, 2, 3], 4), ([0, 3], 4), ([1, 2, 5], 6), ([1000], None), ([0, 2_000_000_000], None)],
)
def test_size_of_a_job_that_does_not_say_it(ranks: list[int], size: int | None) -> None:
    """A missing file is a rank that is not seen; one odd file name is not a job of two billion."""
    case = case_of_objects({rank: plain(one_rank(0, backend="gloo")) | {"pg_config": {}} for rank in ranks})
    assert case.world_size == size
    members = None if size is None else tuple(range(size))
    assert any(found == ("0", members or tuple(ranks)) for found in groups(case))


def test_size_of_a_job_that_says_it() -> None:
    case = case_of({3: one_rank(3)})
    assert (case.world_size, case.ranks_seen) == (4, [3])


def test_groups_of_one_name_by_count_are_told_apart_by_their_descriptions() -> None:
    """Ranks that make different groups at one moment give them one name; where no members are recorded, the
    description is what sets them apart. One that each rank makes up for itself sets nothing apart."""

    def used(desc: str) -> dict[str, Any]:
        dump = plain(one_rank(0, backend="gloo")) | {"pg_config": {}}
        entries = [{**entry, "process_group": ("7", desc)} for entry in dump["entries"]]
        return {**dump, "entries": entries}

    apart = groups(case_of_objects({0: used("pair-0-1"), 1: used("pair-0-1"), 2: used("pair-2-3")}))
    assert {members for name, members in apart if name == "7"} == {(0, 1), (2,)}
    own = groups(case_of_objects({rank: used(f"mine-{rank}") for rank in range(3)}))
    assert {members for name, members in own if name == "7"} == {(0, 1, 2)}


def made_again(
    ranks: dict[int, int],
    first_record: int = 0,
    then: tuple[int, ...] = (0, 1, 2, 3),
    late: dict[int, int] | None = None,
) -> Case:
    """The default group is destroyed and made again under its name, as often as each rank's number says.

    `then`: what the lists of members say after that. `late`: by how many calls' time a rank is behind.
    """
    calls = 4
    dumps = {}
    for rank, times in ranks.items():
        kinds = [REDUCE._replace(pg_id=made) for made in range(times)]
        entries = [
            call(first_record + made * calls + nth, seq=nth + 1, retired=True)._replace(
                kind=made, time_created_ns=NOW + made * calls + nth + (late or {}).get(rank, 0)
            )
            for made in range(times)
            for nth in range(calls)
        ]
        status = {str(made): GroupStatus(calls, calls, calls - made) for made in range(times)}
        members = WORLD._replace(ranks=then) if times > 1 else WORLD
        dumps[rank] = Dump(kinds, entries, {"0": members}, status, "")
    return case_of(dumps)


def calls_of(case: Case) -> dict[tuple[str, int], list[int]]:
    """Group and rank -> the numbers of its calls."""
    rows = case.calls.join(case.groups, on="group").select("desc", "rank", "seq")
    found: dict[tuple[str, int], list[int]] = {}
    for desc, rank, seq in rows.iter_rows():
        found.setdefault((desc, rank), []).append(seq)
    return found


def test_a_group_that_is_made_again_under_its_name_is_another() -> None:
    case = made_again({0: 2, 1: 2, 2: 1, 3: 2})
    earlier = "default_pg (making 1 of 2)"
    every = [1, 2, 3, 4]
    assert calls_of(case) == {
        **{(earlier, rank): every for rank in range(4)},
        **{("default_pg", rank): every for rank in (0, 1, 3)},
    }
    completed = case.statuses.join(case.groups, on="group").filter(rank=0).sort("desc")
    assert completed.select("desc", "last_completed").rows() == [("default_pg", 3), (earlier, 4)]


def test_the_members_of_a_default_group_made_again_are_those_that_called_in_it() -> None:
    """Its own list counts those that are left from 0: that is no list of the job's ranks."""
    case = made_again({0: 2, 1: 2, 2: 1, 3: 2}, then=(0, 1, 2))
    assert groups(case) == {
        ("0 (making 1 of 2)", (0, 1, 2, 3)): "recorded",
        ("0", (0, 1, 3)): "inferred",
    }


def test_a_rank_that_first_calls_when_others_are_in_a_later_making_is_in_none_of_theirs_for_sure() -> None:
    case = made_again({0: 2, 1: 2, 2: 1}, late={2: 4})
    own = case.calls.filter(rank=2)["group"].unique()
    assert case.calls.filter(case.calls["group"].is_in(own.implode()))["rank"].unique().to_list() == [2]


def test_of_dumps_that_lost_their_oldest_calls_no_making_is_anothers() -> None:
    case = made_again({0: 2, 1: 2}, first_record=100)
    ranks = case.calls.group_by("group").agg("rank")["rank"].list.n_unique()
    assert ranks.to_list() == [1] * 4


def test_two_backends_of_one_group_are_one_group() -> None:
    """They have two numbers in their process, and their calls alternate."""
    kinds = [REDUCE._replace(pg_id=number) for number in (0, 1)]
    entries = [call(n, seq=n // 2 + 1)._replace(kind=n % 2) for n in range(6)]
    case = case_of({0: Dump(kinds, entries, {"0": WORLD}, {}, "")})
    assert case.groups.height == 1
