"""One process's recorder: turns calls, steps and decisions into records of its ring.

Whatever goes wrong in here stays in here: a recorder that fails is one that records less.
"""

from __future__ import annotations

import itertools
import math
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from rankandfile.runtime.recorder import tables as limits
from rankandfile.runtime.recorder.operators import Operator
from rankandfile.runtime.recorder.ring import Ring
from rankandfile.runtime.recorder.stacks import Stacks, waits_for_work
from rankandfile.runtime.recorder.tables import (
    GroupCounters,
    Numbers,
    Shape,
    digest,
    dtype_name,
    rolled,
    tensors,
)
from rankandfile.wire import layout

#: Contracts are worked out anew beyond so many.
_MOST_CONTRACTS = 100_000

#: Where a record is, its number, when it was entered, and its flags; what a call needs again when it ends.
Token = tuple[int, int, int, int]


class Recorder:
    def __init__(self, ring: Ring) -> None:
        import torch.distributed

        self.ring = ring
        self.stacks = Stacks(ring)
        self.failures = 0
        """Calls that could not be recorded."""
        self.capturing = False
        """A CUDA graph is being captured: calls go into it, and are made when it is replayed."""
        self.next_number: Callable[[], int] = itertools.count(1).__next__
        self.on_step: Callable[[int], None] | None = None
        """Who else writes records, and must know the step: the native library."""
        self._unbox: Callable[[Any], Any] = torch.distributed.ProcessGroup.unbox
        """What makes a process group of the box that operators are given."""
        self._groups_learnt = 0
        self._shapes_learnt = 0
        self._lock = threading.Lock()
        self._groups: dict[str, GroupCounters] = {}
        self._shapes: dict[Any, Shape] = {}
        self._contracts: dict[tuple[int, int, int, int, int], int] = {}
        self._threads = Numbers(ring, layout.THREAD)
        self._texts = Numbers(ring, layout.TEXT, limits.MOST_TEXTS)
        self._step = 0
        self._exceptions = 0
        self._exception = (0, 0)
        self._last: dict[int, Token | None] = {}
        """By thread; the system uses their numbers again."""

    def enter(self, operator: Operator, arguments: tuple[Any, ...]) -> Token:
        """Record a call that is about to be made."""
        group = self.group(self._unbox(arguments[operator.group]))
        inputs = tensors(arguments[operator.inputs])
        shape = self._shape(operator, arguments, inputs)
        stack, site, site_hash = self.stacks.of(sys._getframe(3))
        peer = arguments[operator.peer] if operator.peer >= 0 else -1
        splits = digest(repr([arguments[i] for i in operator.splits])) if operator.splits else 0
        if 0 <= operator.tag < len(arguments):
            splits = arguments[operator.tag] & limits.MASK
        flags = layout.P2P if operator.p2p else 0
        if inputs and not inputs[0].is_cpu:
            flags |= layout.ON_DEVICE
        if self.capturing:
            flags |= layout.CAPTURED
        if sys.exc_info()[1] is not None:
            flags |= layout.IN_FLIGHT
            self.in_flight()
        # Arguments at their default do not arrive here; this one's is asynchronous.
        if 0 <= operator.sync < len(arguments) and not arguments[operator.sync]:
            flags |= layout.SYNC
        thread = self.learn_thread()
        # It costs as much as a stack, and nothing cheaper is exact: a call site may reduce in several ways.
        reduction = int(arguments[operator.reduce_op].op()) + 1 if operator.reduce_op >= 0 else 0
        sizes = 0 if operator.free_sizes else shape.digest
        contract_key = (operator.number, sizes, peer, reduction, site_hash)
        with self._lock:
            number = self.next_number()
            group.op_seq += 1
            if operator.p2p:
                group.p2p_seq += 1
            else:
                group.seq += 1
                contract = self._contracts.get(contract_key)
                if contract is None:
                    contract = digest(repr((operator.name, *contract_key[1:])))
                    if len(self._contracts) < _MOST_CONTRACTS:
                        self._contracts[contract_key] = contract
                group.hash = rolled(group.hash, contract)
            mono = time.monotonic_ns()
            body = layout.BODY.pack(
                number,
                mono,
                time.time_ns(),
                0 if operator.p2p else group.hash,
                shape.in_elements,
                shape.out_elements,
                splits,
                group.seq,
                group.p2p_seq,
                group.op_seq,
                stack,
                site,
                shape.number,
                group.number,
                thread,
                self._step,
                peer,
                layout.CALL,
                operator.number,
                reduction,
                flags,
            )
            return self.ring.put(number, body), number, mono, flags

    def leave(self, token: Token, raised: bool = False) -> None:
        """The call returned, or raised."""
        at, number, mono, _ = token
        value = layout.RAISED if raised else self.elapsed(mono)
        self.ring.stamp(at, number, layout.LEFT_AT, value)

    def issued(self, token: Token) -> None:
        """Remember the thread's last call, if it is one that its caller waits for at once, on the host."""
        waits = token[3] & (layout.SYNC | layout.ON_DEVICE) == layout.SYNC
        self._last[threading.get_ident()] = token if waits else None

    def waited(self) -> None:
        """A wait of this thread is over; raises nothing."""
        token = self._last.pop(threading.get_ident(), None)
        if token is not None:
            self.done(token)

    def done(self, token: Token) -> None:
        """The call's work was seen to be complete."""
        at, number, mono, _ = token
        self.ring.stamp(at, number, layout.DONE_AT, self.elapsed(mono))

    @staticmethod
    def elapsed(mono: int) -> int:
        return min(max(1, (time.monotonic_ns() - mono) // 1000), layout.RAISED - 1)

    def step(self, steps: tuple[str, ...]) -> None:
        """The job began a step."""
        text = "/".join(steps)
        self._step = self._texts.of(text, lambda: [text])
        if self.on_step is not None:
            self.on_step(self._step)
        # A ring keeps the texts of some thousand steps.
        count = int(steps[-1]) + 1 if steps and steps[-1].isdecimal() and len(steps[-1]) < 16 else 0
        self._note(layout.STEP, self._step, (0, 0, 0), self.learn_thread(), count)

    def decision(self, kind: str, name: str, outcome: str) -> None:
        """A guard came to a decision."""
        text = f"{kind}\0{name}\0{outcome[:200]}"
        told = self._texts.of(text, lambda: [kind, name, outcome[:200]])
        self._note(layout.DECISION, told, self.stacks.of(sys._getframe(1)), self.learn_thread(), 0)

    def note(self, kind: str, name: str, outcome: str, count: int = 0) -> None:
        """Something else that calls alone would not tell, such as the replay of a CUDA graph."""
        told = self._texts.of((kind, name, outcome), lambda: [kind, name, outcome])
        self._note(layout.DECISION, told, (0, 0, 0), self.learn_thread(), count)

    def in_flight(self) -> None:
        """The exception that the calling thread handles while it makes a call: each is told once."""
        error = sys.exc_info()[1]
        trace = error.__traceback__ if error is not None else None
        # An id alone may be given again; the exception is not kept, for it holds all that its frames hold.
        told = (id(error), id(trace))
        if trace is None or told == self._exception or self._exceptions >= limits.MOST_EXCEPTIONS:
            return
        self._exception = told
        self._exceptions += 1
        name = type(error).__name__
        words = str(error).strip().partition("\n")[0][:200]
        text = self._texts.of(told, lambda: [layout.EXCEPTION, f"{name}: {words}" if words else name, ""])
        self._note(layout.DECISION, text, self.stacks.of_trace(trace), self.learn_thread(), 0)

    def pulse(self) -> None:
        """Where the main thread is now, if the process has recorded nothing for a while; for any thread to call."""
        main = threading.main_thread().ident
        frame = sys._current_frames().get(main) if main is not None else None
        if frame is not None:
            where = self.stacks.of(frame)
            thread = self._threads.of(main, lambda: [main, "MainThread"])
            self._note(layout.PULSE, 0, where, thread, flags=layout.SYNC if waits_for_work(frame) else 0)

    def _note(
        self, kind: int, text: int, where: tuple[int, int, int], thread: int, count: int = 0, flags: int = 0
    ) -> None:
        stack, site, _ = where
        with self._lock:
            number = self.next_number()
            mono, wall = time.monotonic_ns(), time.time_ns()
            numbers = (
                number, mono, wall, 0, text, count, 0, 0, 0, 0, stack, site, 0, 0, thread, self._step, -1,
            )  # fmt: skip
            self.ring.put(number, layout.BODY.pack(*numbers, kind, 0, 0, flags))

    def group(self, group: Any) -> GroupCounters:
        """The group, with its counters."""
        name = group.group_name
        known = self._groups.get(name)
        if known is None:
            if len(self._groups) >= limits.MOST_GROUPS:
                self._groups.clear()  # those that are gone are of no use; those in use are counted anew
            known = self._groups[name] = self._learn_group(name, group)
        return known

    def _learn_group(self, name: str, group: Any) -> GroupCounters:
        return GroupCounters(
            self.learn_group(name, str(getattr(group, "group_desc", "")), group.rank(), group.size())
        )

    def learn_group(self, name: str, description: str, rank: int, size: int) -> int:
        """Describe a group in the ring's table; returns its number."""
        from torch.distributed import distributed_c10d as c10d

        ranks: list[int] = []
        backend = ""
        with self._lock:
            self._groups_learnt += 1
            number = self._groups_learnt
        try:
            if c10d.GroupMember.WORLD is not None:
                self.ring.set_rank(c10d.get_rank(), c10d.get_world_size())
            group = c10d._resolve_process_group(name)
            ranks = sorted(c10d.get_process_group_ranks(group))
            backend = str(c10d._world.pg_map[group][0]).lower()
            if backend == "undefined":  # one per kind of device
                backend = str(c10d._world.pg_backend_config[group]).lower()
        except (KeyError, ValueError, RuntimeError):
            pass  # its first call is made while it is being created: it is described without its members
        self.ring.add(layout.GROUP, [number, name, description, ranks, backend, rank, size])
        return number

    def learn_thread(self) -> int:
        """The number of the calling thread."""
        own = threading.get_ident()
        return self._threads.of(own, lambda: [own, threading.current_thread().name])

    def _shape(self, operator: Operator, arguments: tuple[Any, ...], inputs: list[Any]) -> Shape:
        outputs = inputs if operator.outputs == operator.inputs else tensors(arguments[operator.outputs])
        key = (
            tuple([(tensor.shape, tensor.dtype) for tensor in inputs]),
            None if outputs is inputs else tuple([(tensor.shape, tensor.dtype) for tensor in outputs]),
        )
        known = self._shapes.get(key)
        if known is None:
            sides = [
                part
                for side in (inputs, outputs)
                for part in ([list(one.shape) for one in side], [dtype_name(one.dtype) for one in side])
            ]
            known = Shape(*self.learn_shape(*sides))
            if len(self._shapes) < limits.MOST_SHAPES:
                self._shapes[key] = known
        return known

    def learn_shape(
        self, in_sizes: list[Any], in_dtypes: list[Any], out_sizes: list[Any], out_dtypes: list[Any]
    ) -> tuple[int, int, int, int]:
        """Describe sizes in the ring's table: their number, the elements of both sides, and a digest."""
        with self._lock:
            self._shapes_learnt += 1
            number = self._shapes_learnt
        if number > limits.MOST_SHAPES or not self.ring.add(
            layout.SHAPE, [number, in_sizes, in_dtypes, out_sizes, out_dtypes]
        ):
            number = 0
        # What must agree is the elements of a message, not how they are folded.
        elements = [[math.prod(sizes) for sizes in side] for side in (in_sizes, out_sizes)]
        told = digest(repr((elements, in_dtypes, out_dtypes)))
        return number, sum(elements[0]), sum(elements[1]), told
