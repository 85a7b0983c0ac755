"""Everybody receives and nobody has sent: what a circle of receives tells, and what two of them tell."""

from __future__ import annotations

from support.reason.building import Call, Job, Step, case_of, loop

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose

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
