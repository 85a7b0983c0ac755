"""Who can proceed, and what the recorder then shows: small programs whose outcome can be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rankandfile.lab.sim.host import Host
from rankandfile.lab.sim.layout import Layout, mesh, named
from rankandfile.lab.sim.machine import SECOND, Machine, Rules
from rankandfile.lab.sim.ops import (
    Batch,
    Call,
    Compute,
    DeviceFault,
    Leave,
    Op,
    Sync,
    Transfer,
    Work,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
)
from rankandfile.lab.sim.recorder import Recording, dump_at
from rankandfile.lab.sim.watchdog import Patience, aftermath

EAGER = Rules(eager_init=True)


def run(*programs: list[Op], layout: Layout | None = None, rules: Rules = EAGER) -> list[Host]:
    def program(rank: int) -> Iterator[Op]:
        return iter(programs[rank])

    return Machine(layout or named(len(programs), []), program, rules).run()


def done(hosts: list[Host]) -> list[list[bool]]:
    return [[r.node is not None and r.node.done is not None for r in host.records] for host in hosts]


def reduce(size: int = 8, group: str = "world", dtype: str = "Float") -> Call:
    return all_reduce(group, size, "loss_reduce", dtype)


def test_groups_are_named_by_the_order_in_which_the_job_makes_them() -> None:
    layout = mesh({"dp": 2, "tp": 2})
    assert [(g.name, g.desc, g.ranks) for g in layout.groups[1:]] == [
        ("1", "mesh_dp", (0, 2)),
        ("2", "mesh_dp", (1, 3)),
        ("3", "mesh_tp", (0, 1)),
        ("4", "mesh_tp", (2, 3)),
    ]
    assert [g.name for g in layout.groups_of(3)] == ["0", "2", "4"]


def test_the_host_runs_on_until_it_looks_at_a_value() -> None:
    hosts = run([reduce(), reduce(), Sync("metric_item"), reduce()], [reduce()])
    assert [len(host.records) for host in hosts] == [2, 1]
    assert done(hosts) == [[True, False], [True]]
    assert hosts[0].blocked is not None
    assert hosts[0].blocked.kind == "sync"


def test_a_barrier_holds_the_host() -> None:
    hosts = run([barrier("prepare_barrier"), reduce()], [Compute(None), barrier("prepare_barrier")])
    assert [len(host.records) for host in hosts] == [1, 1]


def test_started_means_that_the_own_device_got_there() -> None:
    """A stuck kernel before a collective: its own part never becomes ready, its peers' parts do."""
    hosts = run([reduce()], [Compute(None), reduce()])
    assert [host.records[0].node.ready for host in hosts if host.records[0].node] == [True, False]
    end = aftermath(hosts, Patience())
    timed = [
        dump_at(host, named(2, []), Patience(), Recording(timing=True), end.dumps[host.rank])
        for host in hosts
    ]
    assert [dump.entries[0].state for dump in timed] == ["started", "scheduled"]
    untimed = [dump_at(host, named(2, []), Patience(), Recording(), end.dumps[host.rank]) for host in hosts]
    assert [dump.entries[0].state for dump in untimed] == ["scheduled", "scheduled"]


def test_a_small_broadcast_lets_its_root_go() -> None:
    assert done(
        run([broadcast("world", 16, "best_broadcast")], [Compute(None), broadcast("world", 16, "s")])
    ) == [
        [True],
        [False],
    ]
    big = broadcast("world", 1 << 24, "best_broadcast")
    assert done(run([big], [Compute(None), big])) == [[False], [False]]


@pytest.mark.parametrize(
    ("other", "finishes"),
    [
        (reduce(), True),
        (reduce(4, dtype="Double"), True),  # the same bytes: wrong numbers, and nobody notices
        (reduce(9), False),
        (reduce(8, dtype="Double"), False),
        (broadcast("world", 8, "best_broadcast"), False),
        (barrier("prepare_barrier"), False),
    ],
)
def test_what_a_wrong_partner_does_to_a_reduction(other: Call, finishes: bool) -> None:
    assert done(run([reduce()], [other])) == [[finishes], [finishes]]


def test_pairing_is_by_order_of_issue_and_a_skipped_call_shifts_all_that_follow() -> None:
    hosts = run([reduce(), reduce(), reduce()], [reduce(), reduce()])
    assert done(hosts) == [[True, True, False], [True, True]]
    assert [r.collective_seq for r in hosts[0].records] == [1, 2, 3]


def test_all_to_all_ends_for_those_whose_splits_agree() -> None:
    def member(sent: tuple[int, ...], received: tuple[int, ...]) -> list[Op]:
        return [all_to_all("world", sent, received, 4, "moe_dispatch")]

    hosts = run(member((1, 2, 3), (1, 1, 1)), member((1, 5, 9), (2, 5, 7)), member((1, 7, 2), (3, 8, 2)))
    assert done(hosts) == [[True], [False], [False]]


def transfer(kind: str, peer: int, size: int = 100) -> Transfer:
    return Transfer(kind, "world", peer, (size,), "warm_recv_recv_prev")


def test_alone_sends_block_each_other_but_in_a_batch_they_pass() -> None:
    alone = run(*[[transfer("send", 1 - rank), transfer("recv", 1 - rank)] for rank in range(2)])
    assert done(alone) == [[False, False]] * 2
    batched = run(
        *[
            [Batch((transfer("send", 1 - rank), transfer("recv", 1 - rank)), "ring_close")]
            for rank in range(2)
        ]
    )
    assert done(batched) == [[False, False, True]] * 2  # only the closing entry has events


def test_a_batch_takes_a_collective_number() -> None:
    batch = Batch((transfer("send", 1),), "ring_close")
    partner = Batch((transfer("recv", 0),), "ring_close")
    hosts = run([reduce(), batch, reduce()], [reduce(), partner, reduce()], [reduce(), reduce()])
    assert [(r.collective_seq, r.p2p_seq, r.op_id) for r in hosts[0].records] == [
        (1, 0, 1),
        (2, 1, 2),
        (2, 1, 2),
        (3, 1, 3),
    ]
    assert [r.collective_seq for r in hosts[2].records] == [1, 2]
    assert all(host.records[-1].node and host.records[-1].node.done for host in hosts), (
        "numbers differ, yet it works"
    )


def test_coalesced_collectives_record_their_pieces_only_in_newer_torch() -> None:
    block = reduce()._replace(op="_all_gather_base", pieces=3)
    new = run([block], [block])[0].records
    assert [r.what.op for r in new] == ["_all_gather_base"] * 3 + ["ALLGATHER_coalesced"]
    assert [(r.collective_seq, r.op_id) for r in new] == [(1, 1), (1, 2), (1, 3), (1, 3)]
    old = run([block], [block], rules=Rules(eager_init=True, records_pieces=False))[0].records
    assert [(r.what.op, r.collective_seq, r.op_id) for r in old] == [("coalesced", 1, 3)]


def test_opposite_orders_on_two_groups_lock_up() -> None:
    layout = named(2, [("a", (0, 1)), ("b", (0, 1))])
    a, b = reduce(group="a"), reduce(group="b")
    assert done(run([a, b], [b, a], layout=layout)) == [[False, False]] * 2
    free = [call._replace(async_op=True) for call in (a, b)]
    assert done(run(free, free[::-1], layout=layout)) == [[True, True]] * 2, (
        "asynchronous: streams are independent"
    )


def test_first_use_of_a_communicator_waits_on_the_host_and_records_nothing() -> None:
    hosts = run([reduce()], [Work(None), reduce()], rules=Rules())
    assert [len(host.records) for host in hosts] == [0, 0]
    assert hosts[0].blocked is not None
    assert hosts[0].blocked.kind == "init"
    end = aftermath(hosts, Patience())
    assert end.stuck
    assert end.dumps == {}, "no watchdog ever runs out"


def test_the_dead_take_their_kernels_with_them() -> None:
    hosts = run([Work(1.0), reduce()], [reduce(), Leave("killed", "exit", -9)])
    assert done(hosts) == [[False], [False]]


def test_nothing_runs_after_a_device_fault() -> None:
    hosts = run([reduce(), reduce()], [reduce(), DeviceFault("an illegal memory access"), reduce()])
    assert done(hosts) == [[True, False], [True, False]]
    end = aftermath(hosts, Patience())
    assert end.signal_from == 1
    assert end.signal_at is not None
    assert end.signal_at < hosts[0].clock + SECOND, "an error is told at once, not after a timeout"


def test_the_first_timeout_anywhere_makes_everyone_dump_but_those_who_left() -> None:
    programs: list[list[Op]] = [[reduce()], [Leave("destroying", "destroy")], [Work(None)], [Leave("left")]]
    layout = named(4, [])
    hosts = run(*programs, layout=layout)
    end = aftermath(hosts, Patience(30_000))
    assert end.signal_from == 0
    assert set(end.dumps) == {0, 2}
    assert end.exits == {0: -6, 1: -15, 2: -15, 3: 0}


def test_what_comes_after_the_timeout_is_in_no_dump() -> None:
    """A rank that is merely late joins after the dumps were written."""
    hosts = run([reduce(), reduce()], [Work(40.0), reduce(), reduce()])
    assert done(hosts) == [[True, True]] * 2
    layout = named(2, [])
    end = aftermath(hosts, Patience(30_000))
    dumps = [dump_at(host, layout, Patience(), Recording(), end.dumps[host.rank]) for host in hosts]
    assert [[entry.state for entry in dump.entries] for dump in dumps] == [["scheduled", "scheduled"], []]


def test_completion_is_seen_only_when_the_watchdog_looks() -> None:
    hosts = run([reduce()], [reduce()])
    node = hosts[0].records[0].node
    assert node is not None
    assert node.done is not None
    layout = named(2, [])
    just_after = dump_at(hosts[0], layout, Patience(), Recording(), node.done + 1).entries[0]
    later = dump_at(hosts[0], layout, Patience(), Recording(), node.done + SECOND).entries[0]
    assert (just_after.state, just_after.retired) == ("completed", False)
    assert (later.state, later.retired) == ("completed", True)
    assert later.completed_ns is not None
    assert node.done < later.completed_ns <= node.done + SECOND // 10


def test_the_ring_keeps_the_last_and_counts_all() -> None:
    hosts = run([reduce()] * 7, [reduce()] * 7)
    dump = dump_at(hosts[0], named(2, []), Patience(), Recording(ring=3), hosts[0].clock + SECOND)
    assert [entry.record_id for entry in dump.entries] == [4, 5, 6]
    assert dump.pg_status["0"].last_completed == 7
