"""One process's recorder: turns calls, steps and decisions into records of its ring.

Whatever goes wrong in here stays in here: a recorder that fails is one that records less.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from typing import Any

from rankandfile.runtime.recorder.operators import Operator
from rankandfile.runtime.recorder.ring import Ring
from rankandfile.runtime.recorder.stacks import Stacks
from rankandfile.runtime.recorder.tables import (
    Group,
    Numbers,
    Shape,
    digest,
    dtype_name,
    rolled,
    tensors,
    texts,
    thread_text,
)
from rankandfile.wire import layout

#: Where a record is, and when it was entered; what a call needs again when it ends.
Token = tuple[int, int, int]


class Recorder:
    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.stacks = Stacks(ring)
        self.failures = 0
        """Calls that could not be recorded."""
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._groups: dict[str, Group] = {}
        self._shapes: dict[Any, Shape] = {}
        self._contracts: dict[tuple[int, int, int, int], int] = {}
        self._threads = Numbers(ring, layout.THREAD)
        self._texts = texts(ring)
        self._step = 0

    def enter(self, operator: Operator, arguments: tuple[Any, ...]) -> Token:
        """Record a call that is about to be made."""
        unbox = _unbox()
        group = self.group(unbox(arguments[operator.group]))
        shape = self._shape(operator, arguments)
        stack, site, site_hash = self.stacks.of(sys._getframe(3))
        peer = arguments[operator.peer] if operator.peer >= 0 else -1
        splits = digest(repr([arguments[i] for i in operator.splits])) if operator.splits else 0
        flags = layout.P2P if operator.p2p else 0
        if operator.sync >= 0 and not arguments[operator.sync]:
            flags |= layout.SYNC
        thread = self._threads.of(threading.get_ident(), thread_text)
        sizes = 0 if operator.free_sizes else shape.digest
        contract_key = (operator.number, sizes, peer, site_hash)
        with self._lock:
            number = next(self._numbers)
            group.op_seq += 1
            if operator.p2p:
                group.p2p_seq += 1
            else:
                group.seq += 1
                contract = self._contracts.get(contract_key)
                if contract is None:
                    contract = self._contracts[contract_key] = digest(
                        repr((operator.name, *contract_key[1:]))
                    )
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
                0,
                flags,
            )
            return self.ring.put(number, body), number, mono

    def leave(self, token: Token, raised: bool = False) -> None:
        """The call returned, or raised."""
        at, number, mono = token
        value = layout.RAISED if raised else self.elapsed(mono)
        self.stamp(at + layout.LEFT_AT, at, number, value)

    def done(self, token: Token) -> None:
        """The call's work was seen to be complete."""
        at, number, mono = token
        self.stamp(at + layout.DONE_AT, at, number, self.elapsed(mono))

    def stamp(self, where: int, at: int, number: int, value: int) -> None:
        """Write a time at a record's end, unless the ring has come round and the place is another's."""
        if layout.U64.unpack_from(self.ring.map, at)[0] == number:
            layout.U32.pack_into(self.ring.map, where, value)

    @staticmethod
    def elapsed(mono: int) -> int:
        return min(max(1, (time.monotonic_ns() - mono) // 1000), layout.RAISED - 1)

    def step(self, steps: tuple[str, ...]) -> None:
        """The job began a step."""
        text = "/".join(steps)
        self._step = self._texts.of(text, lambda: [text])
        self._note(layout.STEP, self._step, 0)

    def decision(self, kind: str, name: str, outcome: str) -> None:
        """A guard came to a decision."""
        text = f"{kind}\0{name}\0{outcome[:200]}"
        self._note(layout.DECISION, self._texts.of(text, lambda: [kind, name, outcome[:200]]), 1)

    def _note(self, kind: int, text: int, with_stack: int) -> None:
        stack, site, _ = self.stacks.of(sys._getframe(2)) if with_stack else (0, 0, 0)
        thread = self._threads.of(threading.get_ident(), thread_text)
        with self._lock:
            number = next(self._numbers)
            mono, wall = time.monotonic_ns(), time.time_ns()
            body = layout.BODY.pack(
                number,
                mono,
                wall,
                0,
                text,
                0,
                0,
                0,
                0,
                0,
                stack,
                site,
                0,
                0,
                thread,
                self._step,
                -1,
                kind,
                0,
                0,
                0,
            )
            self.ring.put(number, body)

    def group(self, group: Any) -> Group:
        """The group, with its counters."""
        name = group.group_name
        known = self._groups.get(name)
        if known is None:
            known = self._groups[name] = self._new_group(name, group)
        return known

    def _new_group(self, name: str, group: Any) -> Group:
        from torch.distributed import distributed_c10d as c10d

        number = len(self._groups) + 1
        try:
            ranks = sorted(c10d.get_process_group_ranks(group))
        except (KeyError, ValueError, RuntimeError):
            ranks = []  # its first call is made while it is being created
        backend = ""
        if c10d.GroupMember.WORLD is not None:
            self.ring.set_rank(c10d.get_rank(), c10d.get_world_size())
            backend = str(c10d._world.pg_map.get(group, ("",))[0]).lower()
        description = str(getattr(group, "group_desc", "") or "")
        self.ring.add(layout.GROUP, [number, name, description, ranks, backend, group.rank(), group.size()])
        return Group(number)

    def _shape(self, operator: Operator, arguments: tuple[Any, ...]) -> Shape:
        inputs = tensors(arguments[operator.inputs])
        outputs = inputs if operator.outputs == operator.inputs else tensors(arguments[operator.outputs])
        key = (
            tuple([(tensor.shape, tensor.dtype) for tensor in inputs]),
            None if outputs is inputs else tuple([(tensor.shape, tensor.dtype) for tensor in outputs]),
        )
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = self._new_shape(inputs, outputs)
        return known

    def _new_shape(self, inputs: list[Any], outputs: list[Any]) -> Shape:
        sides: list[object] = []
        for side in (inputs, outputs):
            sides.append([list(tensor.shape) for tensor in side])
            sides.append([dtype_name(tensor.dtype) for tensor in side])
        number = len(self._shapes) + 1
        if not self.ring.add(layout.SHAPE, [number, *sides]):
            number = 0
        # The shape of a message is its elements, not how they are folded.
        counts = [[(tensor.numel(), str(tensor.dtype)) for tensor in side] for side in (inputs, outputs)]
        return Shape(
            number,
            sum(tensor.numel() for tensor in inputs),
            sum(tensor.numel() for tensor in outputs),
            digest(repr(counts)),
        )


def _unbox() -> Any:
    import torch.distributed

    return torch.distributed.ProcessGroup.unbox
