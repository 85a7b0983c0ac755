"""Members of groups that nobody lists, from the places their members give in their lines."""

from __future__ import annotations

from rankandfile.reason.calls.logged_members import members_by_place
from rankandfile.reason.ranks.from_logs.accounts import Report


def said(group: str, desc: str, *places: tuple[int, int]) -> list[Report]:
    """Lines of one group: (place in it, global rank)."""
    return [
        Report(rank, group, desc, place, 9, "ALLREDUCE", None, None, 9, 8, None, f"L{rank}:1")
        for place, rank in places
    ]


def test_enough_places_tell_the_one_that_is_silent() -> None:
    lines = said("18", "mesh_tp", (0, 4), (1, 5), (3, 7)) + said("17", "mesh_tp", (0, 0), (3, 3))
    assert members_by_place(lines, 16) == {"17": (0, 1, 2, 3), "18": (4, 5, 6, 7)}


def test_one_speaker_of_each_group_is_enough_where_only_one_mesh_fits() -> None:
    lines = [line for rank in range(4) for line in said(str(9 + rank), "mesh_dp", (0, rank))]
    assert members_by_place(lines, 8) == {"9": (0, 4), "10": (1, 5), "11": (2, 6), "12": (3, 7)}


def test_two_answers_are_none() -> None:
    """Of eight ranks, or of the first half of sixteen: the silent ones would be others."""
    lines = said("1", "mesh_dp", *((rank, rank) for rank in range(8)))
    assert members_by_place(lines, 16) == {}
    assert members_by_place(lines, 8) == {"1": tuple(range(8))}


def test_another_dimension_leaves_room_for_one() -> None:
    shard = said("5", "mesh_shard", (0, 0), (1, 1), (2, 2))
    assert members_by_place(shard, 8) == {}
    replicate = [line for rank in range(4) for line in said(str(1 + rank), "mesh_replicate", (1, 4 + rank))]
    assert members_by_place(shard + replicate, 8)["5"] == (0, 1, 2, 3)


def test_places_that_contradict_each_other_tell_nothing() -> None:
    assert members_by_place(said("5", "mesh_tp", (0, 0), (1, 2), (2, 5)), 8) == {}
    assert members_by_place(said("5", "", (0, 0), (1, 1)), 2) == {}


def test_a_hostile_place_costs_nothing() -> None:
    assert members_by_place(said("5", "x", (2**31 - 1, 7)), 1 << 16) == {}
