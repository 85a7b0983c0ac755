"""Runs all ranks' programs against the devices and the fabric until nothing can proceed any more.

Hosts run ahead of their devices, as in CUDA: a collective is enqueued behind what its stream and the compute
stream hold, and the host goes on to the next line. It stops only where a real one does: at a synchronisation, a
barrier, the first use of a communicator, or in work of its own. What is left unfinished when the event queue is
empty can never finish: that is the hang, found and not prescribed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rankandfile.lab.sim.device import Clockwork, Node
from rankandfile.lab.sim.fabric import Fabric, transfer_bytes
from rankandfile.lab.sim.host import Blocked, Host, Seen, Signature, Span, signature
from rankandfile.lab.sim.layout import Group, Layout
from rankandfile.lab.sim.ops import (
    ENDINGS,
    UNEVEN_GATHER,
    Batch,
    Call,
    Compute,
    DeviceFault,
    Leave,
    Mark,
    Program,
    Say,
    Sync,
    Transfer,
    Wait,
    Work,
)

SECOND = 1_000_000_000
_ISSUE_NS = 18_000
_CONNECT_NS = SECOND // 2
_CLOSING = {
    "_all_gather_base": "ALLGATHER",
    UNEVEN_GATHER: "ALLGATHER",
    "_reduce_scatter_base": "REDUCE_SCATTER",
}


@dataclass(frozen=True)
class Rules:
    """How this job's torch behaves, as far as it decides who can proceed or what is recorded."""

    seed: int = 0
    start_ns: int = 1_760_000_000 * SECOND
    eager_init: bool = False  # communicators made by init_process_group(device_id=...), not at first use
    records_pieces: bool = True  # torch >= 2.8 records the single collectives of a coalescing block
    stalled: Callable[[Group, int], bool] = lambda _group, _position: False


class Machine:
    """One job."""

    def __init__(self, layout: Layout, program: Callable[[int], Program], rules: Rules) -> None:
        self.layout = layout
        self.rules = rules
        self._clock = Clockwork()
        self._fabric = Fabric(self._clock, rules.seed, rules.stalled, self._alive)
        self._arrived: dict[tuple[int, ...], list[Host]] = {}
        self._noise = random.Random(rules.seed)
        self.hosts = [
            Host(rank, program(rank), rules.start_ns + self._noise.randrange(2_000_000))
            for rank in range(layout.world_size)
        ]

    def run(self) -> list[Host]:
        for host in self.hosts:
            self._clock.at(host.clock, partial(self._resume, host))
        self._clock.run()
        return self.hosts

    def _alive(self, rank: int, time: int) -> bool:
        gone = self.hosts[rank].gone_at
        return gone is None or time <= gone

    def _resume(self, host: Host, now: int) -> None:
        now = max(host.clock, now)
        if host.blocked is not None and now - host.clock > SECOND:
            host.spans.append(Span(host.clock, now, host.blocked))
        host.clock = now
        host.blocked = None
        while host.blocked is None and host.ending is None:
            op = host.again if host.again is not None else next(host.program, Leave("finished"))
            host.again = None
            match op:
                case Call():
                    self._call(host, op)
                case Compute():
                    host.compute = self._kernel(host, op.seconds)
                case Sync():
                    tails = [host.compute, *(host.streams.values() if op.everything else ())]
                    self._block(host, tails, Blocked("sync", op.site))
                case Batch():
                    self._batch(host, op)
                case Transfer():
                    self._transfer(host, op)
                case Wait():
                    host.compute = self._join(host, (host.compute, *host.outstanding))
                    host.outstanding.clear()
                case Work():
                    self._work(host, op)
                case Say():
                    host.lines.append((host.clock, op.text))
                case Mark():
                    self._mark(host, op)
                case DeviceFault():
                    self._fault(host, op)
                case Leave():
                    self._leave(host, op)

    def _block(self, host: Host, tails: list[Node | None], why: Blocked) -> None:
        """Wait for device work. What is done already costs only the time until it was done."""
        node = self._join(host, tuple(tails))
        if node.done is not None:
            host.clock = max(host.clock, node.done)
            return
        host.blocked = why
        node.then.append(partial(self._resume, host))

    def _work(self, host: Host, op: Work) -> None:
        host.blocked = Blocked("work", op.doing)
        if op.seconds is not None:
            # A turn of the event queue, so that a rank busy for minutes is seen to be so by the others' clocks.
            self._clock.at(host.clock + int(op.seconds * SECOND), partial(self._resume, host))

    def _leave(self, host: Host, op: Leave) -> None:
        if op.how == "finished":
            # Destroying the groups first waits for what is still enqueued; meanwhile the monitor lives on.
            host.again = op
            self._block(host, [host.compute, *host.streams.values()], Blocked("destroy", op.site))
            if host.blocked is not None:
                return
            host.again = None
        host.ending = op
        host.ended_at = host.clock
        if ENDINGS[op.how]:
            host.gone_at = host.clock
        else:
            host.blocked = Blocked("destroy", op.site)

    def _mark(self, host: Host, op: Mark) -> None:
        call = op.call
        seq = 0
        if isinstance(call, Call):
            seq = host.collective_seq.get(self.layout.group(call.group, host.rank).index, 0) + 1
        host.marks.append(Seen(op, host.clock, seq))

    def _connected(
        self,
        host: Host,
        key: tuple[int, ...],
        members: tuple[int, ...],
        group: Group,
        op: Call | Batch | Transfer,
    ) -> bool:
        """First use of a communicator: the host itself waits for every member, and nothing is recorded yet."""
        if key in host.connected or (self.rules.eager_init and len(key) == 1):
            return True
        here = self._arrived.setdefault(key, [])
        here.append(host)
        host.again = op
        host.blocked = Blocked("init", op.site, group)
        if len(here) == len(members):
            time = max(other.clock for other in here) + (_CONNECT_NS if len(members) > 1 else 0)
            for other in here:
                other.connected.add(key)
                self._clock.at(time, partial(self._resume, other))
        return False

    def _kernel(self, host: Host, seconds: float | None) -> Node:
        def launch(node: Node) -> None:
            if seconds is not None:
                self._clock.finish(node, node.ready_at + int(seconds * SECOND))

        host.clock += _ISSUE_NS // 2
        node = Node(host.rank, host.clock, launch)
        self._clock.enqueue(node, (host.compute,))
        return node

    def _join(self, host: Host, after: tuple[Node | None, ...]) -> Node:
        """A point that is passed once all of `after` is done; done at once if they are."""
        node = Node(host.rank, host.clock, lambda _: None)
        open_ones = [other for other in after if other is not None and other.done is None]
        if not open_ones:
            node.done = max([host.clock, *(other.done or 0 for other in after if other is not None)])
            return node
        node.launch = lambda passed: self._clock.finish(passed, passed.ready_at)
        self._clock.enqueue(node, after)
        return node

    def _fault(self, host: Host, op: DeviceFault) -> None:
        def launch(node: Node) -> None:
            host.device_error = (node.ready_at, op.text)

        node = Node(host.rank, host.clock, launch)
        self._clock.enqueue(node, (host.compute,))
        host.compute = node

    def _call(self, host: Host, call: Call) -> None:
        group = self.layout.group(call.group, host.rank)
        key = (group.index,)
        if not self._connected(host, key, group.ranks, group, call):
            return
        host.clock += _ISSUE_NS
        host.bump(host.collective_seq, group)
        meeting = self._fabric.issue(group, host.rank)
        node = Node(host.rank, host.clock, lambda ready: self._fabric.join(meeting, ready, call))
        if call.pieces:
            self._pieces(host, call, group, node)
        else:
            host.bump(host.op_id, group)
            host.record(signature(call, group), host.clock, node)
        self._clock.enqueue(node, (host.streams.get(key), host.compute))
        host.streams[key] = node
        if call.async_op:
            host.outstanding.append(node)
        else:
            host.compute = node
        if call.op == "all_reduce_barrier":
            self._block(host, [node], Blocked("barrier", call.site, group))

    def _pieces(self, host: Host, call: Call, group: Group, node: Node) -> None:
        """A coalescing block: the single calls without events, then one closing entry that has them."""
        single = signature(call, group)
        for i in range(call.pieces):
            host.bump(host.op_id, group)
            if self.rules.records_pieces:
                shape = (call.outputs[i],) if len(call.outputs) == call.pieces else call.outputs
                inputs = shape if call.op == UNEVEN_GATHER else call.inputs
                host.record(single._replace(inputs=inputs, outputs=shape), host.clock, None)
        name = _CLOSING.get(call.op, "ALLREDUCE")
        closing = f"{name}_coalesced" if self.rules.records_pieces else "coalesced"
        host.record(single._replace(op=closing, inputs=(), outputs=()), host.clock, node)

    def _batch(self, host: Host, batch: Batch) -> None:
        group = self.layout.group(batch.transfers[0].group, host.rank)
        key = (group.index,)
        if not self._connected(host, key, group.ranks, group, batch):
            return
        host.clock += _ISSUE_NS
        # Opening a coalescing block takes a collective number, its first transfer a point-to-point one.
        host.bump(host.collective_seq, group)
        host.bump(host.p2p_seq, group)
        me = self.layout.inside(group, host.rank)
        for transfer in batch.transfers:
            host.bump(host.op_id, group)
            host.record(_transfer_signature(transfer, group, me), host.clock, None)
        node = Node(host.rank, host.clock, lambda ready: self._exchange(ready, batch.transfers, group, me))
        closing = Signature(group.index, "coalesced", (), (), "", batch.site, True)
        host.record(closing, host.clock, node)
        self._clock.enqueue(node, (host.streams.get(key), host.compute))
        host.streams[key] = host.compute = node

    def _transfer(self, host: Host, op: Transfer) -> None:
        """Alone, a transfer has a communicator of its two ranks to itself."""
        group = self.layout.group(op.group, host.rank)
        me = self.layout.inside(group, host.rank)
        key = (group.index, min(me, op.peer), max(me, op.peer))
        if not self._connected(host, key, (me, op.peer), group, op):
            return
        host.clock += _ISSUE_NS
        host.bump(host.p2p_seq, group)
        host.bump(host.op_id, group)
        node = Node(host.rank, host.clock, lambda ready: self._exchange(ready, (op,), group, me, "alone"))
        host.record(_transfer_signature(op, group, me), host.clock, node)
        self._clock.enqueue(node, (host.streams.get(key), host.compute))
        host.streams[key] = host.compute = node

    def _exchange(
        self, node: Node, transfers: tuple[Transfer, ...], group: Group, me: int, how: str = "batch"
    ) -> None:
        """All transfers of a batch progress together; the batch is done with the last of them."""
        left = len(transfers)

        def done(now: int) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self._clock.finish(node, now)

        for transfer in transfers:
            source, target = (me, transfer.peer) if transfer.kind == "send" else (transfer.peer, me)
            size = transfer_bytes(transfer.shape, transfer.dtype)
            self._fabric.transfer((how, group.index, source, target), transfer.kind, node, size, done)


def _transfer_signature(transfer: Transfer, group: Group, me: int) -> Signature:
    arrow = "->" if transfer.kind == "send" else "<-"
    name = f"{transfer.kind} {me}{arrow}{transfer.peer}"
    shapes = (transfer.shape,)
    return Signature(group.index, name, shapes, shapes, transfer.dtype, transfer.site, True)
