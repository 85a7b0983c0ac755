"""Sends and receives that cannot end, and those that only take their time: simulated rings."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from support.capture.recorded import WORLD, Recorded, job

from rankandfile.capture.sentinel.sentinel import Sentinel
from rankandfile.capture.sentinel.telling_slow import frozen
from rankandfile.capture.sentinel.transfers import (
    KEPT,
    MOST_LANES,
    SEND,
    Lane,
    Queue,
    Transfer,
    Transfers,
    unfit,
)
from rankandfile.capture.sentinel.waits import Open, Waits, cycle, missing
from rankandfile.capture.watch.rings import look
from rankandfile.model.digest import Finding


def watched(folder: Path, gone: Collection[int] = ()) -> list[Finding]:
    """What is told while every rank has time to come; signs of life are later than the first look."""
    sentinel, found = Sentinel(), []
    for seconds in (0.0, 2.0, 2.5, 4.0):
        seen = [one._replace(lives=one.rank not in gone) for one in look(folder)]
        found += sentinel.look(seen, time.time() + seconds)
    return found


def moved(ranks: list[Recorded], steps: int = 5) -> None:
    """A pipeline: each rank receives from the one before, and sends to the next."""
    for _ in range(steps):
        for number, rank in enumerate(ranks):
            if number:
                rank.transfer("recv_", number - 1, 20)
            if number < len(ranks) - 1:
                rank.transfer("send", number + 1, 30)


def stand(rank: Recorded, op: str, peer: int, line: int = 50, **how: object) -> None:
    rank.transfer(op, peer, line, done=False, ago=2.0, **how)  # type: ignore[arg-type]
    rank.beat()


def test_both_receive_first(tmp_path: Path) -> None:
    ranks = job(tmp_path, 3)
    moved(ranks)
    stand(ranks[0], "recv_", 1, 40)
    stand(ranks[1], "recv_", 0, 41)
    (found,) = watched(tmp_path)
    assert (found.kind, found.certainty, found.ranks, found.sequence) == ("order", "likely", "0,1", 1)
    assert [(side.ranks, side.call, side.path[0].line) for side in found.sides] == [
        ("0", "recv Float [4]", 40),
        ("1", "recv Float [4]", 41),
    ]
    assert (
        "rank 1 waits for rank 0 in recv Float [4] (receive 6 from rank 0 in group default_pg [0-2], which has sent 5) "
        "at train.py:41 in f41()" in found.words
    )


def test_both_send_first(tmp_path: Path) -> None:
    ranks = job(tmp_path, 2)
    for number, rank in enumerate(ranks):
        stand(rank, "send", 1 - number)
    (found,) = watched(tmp_path)
    assert (
        found.kind == "order"
        and "send 1 to rank 1 in group default_pg [0,1], which has asked for 0" in found.words
    )


def test_the_sender_stands_in_a_collective_of_the_receiver(tmp_path: Path) -> None:
    """It has left out a send."""
    ranks = job(tmp_path, 3)
    moved(ranks)
    stand(ranks[2], "recv_", 1, 40)
    for rank in ranks[:2]:
        rank.call(60, done=False, ago=2.0)
    (found,) = watched(tmp_path)
    assert (found.kind, found.ranks) == (
        "order",
        "1,2",
    ) and "all_reduce SUM Float [4] (call 1 of" in found.words


def test_who_has_ended_will_not_send(tmp_path: Path) -> None:
    ranks = job(tmp_path, 3)
    moved(ranks)
    stand(ranks[2], "recv_", 1, 40)
    ranks[1].beat()
    (found,) = watched(tmp_path, gone={1})
    assert (found.kind, found.certainty, found.ranks, found.sequence) == ("missing", "certain", "1", 6)
    assert found.words == (
        "rank 1 has ended and will never send what rank 2 waits for in receive 6 from rank 1 in group default_pg "
        "[0-2], which has sent 5: recv Float [4] at train.py:40 in f40()"
    )


def test_a_wait_for_what_was_begun(tmp_path: Path) -> None:
    """Both have begun two receives, and wait; a sign of life says so, and no record tells for which."""
    ranks = job(tmp_path, 2)
    moved(ranks)
    for number, rank in enumerate(ranks):
        for line in (40, 41):
            rank.transfer("recv_", 1 - number, line, blocks=False, done=False, ago=2.0)
        rank.pulse(waits=True, ago=-1.0)
    (found,) = watched(tmp_path)
    assert (found.kind, found.ranks) == ("order", "0,1")


@pytest.mark.parametrize(("over", "later"), [(True, 1.5), (False, 1.5), (True, 0.3)])
def test_what_is_over_on_the_other_side_is_waited_for_no_more(
    tmp_path: Path, over: bool, later: float
) -> None:
    """A send of which nobody has asked whether it is over: its receive is, for long enough, or is not."""
    ranks = job(tmp_path, 2)
    ranks[0].transfer("send", 1, blocks=False, done=False, ago=2.0)
    ranks[0].transfer("recv_", 1, 40, blocks=False, done=False, ago=2.0)
    ranks[1].transfer("recv_", 0, blocks=False, done=over, ago=2.0)
    ranks[1].call(60, done=False, ago=2.0)
    ranks[0].pulse(waits=True, ago=-later)
    assert [one.kind for one in watched(tmp_path)] == ["order"] * (over and later > 1)


def test_what_everybody_may_send_and_nobody_can(tmp_path: Path) -> None:
    ranks = job(tmp_path, 3)
    stand(ranks[0], "recv_any_source_", -1)
    for number in (1, 2):
        stand(ranks[number], "recv_", 0)
    (found,) = watched(tmp_path)
    assert found.kind == "order" and "receive 1 from anybody in group" in found.words


@pytest.mark.parametrize(("odd", "who"), [("send", "0"), ("both", "")])
def test_more_is_sent_than_received(tmp_path: Path, odd: str, who: str) -> None:
    ranks = job(tmp_path, 2)
    moved(ranks, 1 if odd == "both" else 5)
    ranks[0].transfer("send", 1, 30, size=(7,))
    ranks[1].transfer("recv_", 0, 20, size=(4,) if odd == "send" else (6,))
    (found,) = watched(tmp_path)
    assert (found.kind, found.certainty, found.ranks) == ("desync", "certain", who)
    assert (
        "in transfer" in found.words and "rank 0 calls send Float [7] at train.py:30 in f30()" in found.words
    )


def a_stage_computes(ranks: list[Recorded]) -> None:
    """The last stages wait, and the first is at work."""
    for number in range(1, len(ranks)):
        stand(ranks[number], "recv_", number - 1)


def more_micro_batches(ranks: list[Recorded]) -> None:
    for _ in range(9):
        ranks[0].transfer("send", 1, done=False, blocks=False)
    stand(ranks[1], "recv_", 0)


def begun_and_not_waited_for(ranks: list[Recorded]) -> None:
    """Both have begun to receive, and compute: they send later."""
    for number, rank in enumerate(ranks[:2]):
        rank.transfer("recv_", 1 - number, blocks=False, done=False, ago=2.0)
        rank.pulse(waits=False, ago=-1.0)


def waits_for_one_that_comes(ranks: list[Recorded]) -> None:
    """Of two receives that are begun, one was sent: what is waited for may be that one."""
    for number, rank in enumerate(ranks[:2]):
        rank.transfer("send", 1 - number, blocks=False, done=False, ago=2.0)
        for _ in range(2):
            rank.transfer("recv_", 1 - number, blocks=False, done=False, ago=2.0)
        rank.pulse(waits=True, ago=-1.0)


def tags_in_any_order(ranks: list[Recorded]) -> None:
    for tag in (1, 2):
        ranks[0].transfer("send", 1, size=(tag * 4,), tag=tag)
    for tag in (2, 1):
        ranks[1].transfer("recv_", 0, size=(tag * 4,), tag=tag)


def room_to_spare(ranks: list[Recorded]) -> None:
    """The last batch is smaller, and the buffer is not."""
    ranks[0].transfer("send", 1, size=(3,))
    ranks[1].transfer("recv_", 0, size=(4,))


def a_send_that_is_over_and_not_noticed(ranks: list[Recorded]) -> None:
    """Whoever has sent is too busy to ask for its end."""
    ranks[0].beat()
    ranks[0].transfer("send", 1, done=False, ago=0.0)
    stand(ranks[1], "recv_", 0, tag=5)


def of_a_group_that_was_not_told(ranks: list[Recorded]) -> None:
    """Among what is begun: it may be what is waited for."""
    for number, rank in enumerate(ranks[:2]):
        rank.call(70, group=9, done=False, ago=2.0)
        rank.transfer("recv_", 1 - number, blocks=False, done=False, ago=2.0)
        rank.pulse(waits=True, ago=-1.0)


def records_are_lost(ranks: list[Recorded]) -> None:
    """Of a send that nobody has seen, nothing is known."""
    ranks[0]._p2p_seq[1] = 40
    for number, rank in enumerate(ranks[:2]):
        stand(rank, "recv_", 1 - number)


def a_group_that_was_not_told(ranks: list[Recorded]) -> None:
    ranks[0].transfer("send", 1, group=9)
    for number, rank in enumerate(ranks[:2]):
        stand(rank, "recv_", 1 - number)


def in_another_order(ranks: list[Recorded]) -> None:
    """Who is which member of a group is not what its list says."""
    everybody = range(len(ranks))
    for number, rank in enumerate(ranks[:2]):
        rank.group(2, "2", "turned", everybody, turned=True)
        rank.transfer("recv_", 1 - number, group=2)
        stand(rank, "recv_", 1 - number, group=2)


def called_nothing_in_the_group(ranks: list[Recorded]) -> None:
    """So it may be another member than it seems."""
    ranks[0].group(2, "2", "turned", [0, 1])
    stand(ranks[0], "recv_", 1, group=2)
    stand(ranks[1], "recv_", 0)


def another_thread_sends(ranks: list[Recorded]) -> None:
    for number, rank in enumerate(ranks[:2]):
        rank.thread = 2
        rank.transfer("send", 1 - number, group=WORLD)
        rank.transfer("recv_", 1 - number, group=WORLD)
        rank.thread = 1
        stand(rank, "recv_", 1 - number)


@pytest.mark.parametrize(
    "program",
    [
        a_stage_computes, more_micro_batches, begun_and_not_waited_for, waits_for_one_that_comes, tags_in_any_order,
        room_to_spare, a_send_that_is_over_and_not_noticed, of_a_group_that_was_not_told, records_are_lost,
        a_group_that_was_not_told, in_another_order, called_nothing_in_the_group, another_thread_sends,
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [2, 4])
def test_what_only_takes_its_time_is_not_told(
    tmp_path: Path, program: Callable[[list[Recorded]], None], size: int
) -> None:
    ranks = job(tmp_path, size)
    moved(ranks)
    program(ranks)
    assert not watched(tmp_path)


def test_a_wait_that_is_over_tells_nothing(tmp_path: Path) -> None:
    """What it waited for has come after the sign of life: now it may compute."""
    ranks = job(tmp_path, 2)
    sentinel = Sentinel()
    for number, rank in enumerate(ranks):
        rank.transfer("recv_", 1 - number, blocks=False, done=False, ago=9.0)
        rank.pulse(waits=True, ago=6.0)
    assert not [
        one for after in (0.0, 2.0, 2.5) for one in sentinel.look(look(tmp_path), time.time() + after)
    ]


@pytest.mark.parametrize("let_go", [True, False])
def test_what_is_not_in_the_ring_any_more_may_be_waited_for(tmp_path: Path, let_go: bool) -> None:
    ranks, sentinel = job(tmp_path, 2), Sentinel()
    for number, rank in enumerate(ranks):
        rank.transfer("recv_", 1 - number, tag=1, blocks=False, done=not let_go, ago=9.0)
    sentinel.look(look(tmp_path))
    for rank in ranks:  # as many as do not push out what was not read yet
        for _ in range(500):
            rank.pulse(waits=False, ago=9.0)
    sentinel.look(look(tmp_path))
    for number, rank in enumerate(ranks):
        for _ in range(20):
            rank.pulse(waits=False, ago=9.0)
        rank.transfer("recv_", 1 - number, blocks=False, done=False, ago=2.0)
        rank.pulse(waits=True, ago=-1.0)
    found = [one for after in (0.0, 2.0, 2.5) for one in sentinel.look(look(tmp_path), time.time() + after)]
    assert [one.kind for one in found] == ["order"] * (not let_go)


def test_who_gives_no_sign_of_life_may_be_past_the_call(tmp_path: Path) -> None:
    """It holds Python's lock: nobody has asked whether its send is over."""
    ranks, sentinel = job(tmp_path, 2), Sentinel()
    for number, rank in enumerate(ranks):
        stand(rank, "recv_", 1 - number)
    after = (0.0, 4.0, 4.5, 9.0)
    assert not [one for seconds in after for one in sentinel.look(look(tmp_path), time.time() + seconds)]


LANE = Lane("g", 0, 0, 1, 0, False)


def test_a_circle_needs_every_way_to_be_blocked() -> None:
    """A rank that waits for one of several goes on with any of them."""
    both = Waits(0, (Open(1, LANE, 1, (1,)), Open(2, LANE, 2, (2,))), 0.0, True)
    one = Waits(1, (Open(1, "g", 1, (0,)),), 0.0, True)
    assert not cycle([both, one])
    assert [link.rank for link in cycle([both, one, Waits(2, (Open(1, "g", 1, (0,)),), 0.0, True)])] == [0, 1]
    assert not cycle([Waits(0, (Open(1, LANE, 1),), 0.0, True), one])
    assert not missing([both], {1}) and missing([both], {1, 2})[0].gone == (1,)
    group = Waits(0, (Open(1, LANE, 1), Open(2, "g", 4, (3,))), 0.0, True)
    assert [(one.call.number, one.gone) for one in missing([group], {3})] == [(4, (3,))]


def test_lanes_are_bounded() -> None:
    """Of those beyond, nothing is said."""
    transfers = Transfers()
    for tag in range(MOST_LANES + 5):
        transfers.add(SEND, LANE._replace(tag=tag), Transfer(0, 4, "send", 0, 0))
    assert len(transfers.sends) == MOST_LANES
    assert transfers.sent(LANE) == 1 and transfers.sent(LANE._replace(tag=MOST_LANES + 1)) is None


def test_sizes_are_compared_once_and_as_far_as_kept() -> None:
    sends, receives = Queue(), Queue()
    for number in range(1, 3 * KEPT):
        for queue, size in ((sends, 8 if number == KEPT else 4), (receives, 4)):
            queue.count += 1
            queue.newest.append(Transfer(number, size, "", 0, 0))
    assert unfit(LANE, sends, receives) is None and receives.compared == 3 * KEPT - 1


def test_where_ranks_stand_when_nothing_moves(tmp_path: Path) -> None:
    """In a receive, and not in the collective before it."""
    ranks = job(tmp_path, 2)
    for rank in ranks:
        rank.call(10)
    stand(ranks[1], "recv_", 0, 40)
    sentinel = Sentinel()
    sentinel.look(look(tmp_path))
    (program,) = sentinel.ranks.programs().values()
    found = frozen(program, "a verdict", time.time())
    assert (
        "rank 1 stands in recv Float [4] (receive 1 from rank 0 in group default_pg [0,1], which has sent 0) at "
        "train.py:40 in f40(); verdict: a verdict" in found.words
    )
