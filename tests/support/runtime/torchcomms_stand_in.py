"""A communicator with the signatures of torchcomms' `_comms.pyi`: PyPI has a placeholder only."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any


class OpName(Enum):
    send = auto()
    recv = auto()
    broadcast = auto()
    all_reduce = auto()
    all_gather = auto()
    barrier = auto()
    finalize = auto()


class Args:
    """Of a pre-hook: what the operation has, and `async_op`."""

    def __init__(self, async_op: bool, **values: Any) -> None:
        self.async_op = async_op
        self.__dict__.update(values)


class RemovableHandle:
    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self._hooks, self._number = hooks, number

    def remove(self) -> None:
        self._hooks.pop(self._number, None)


class TorchWork:
    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish

    def wait(self) -> None:
        self._finish()


class TorchComm:
    """`hangs`: operations that are never complete."""

    def __init__(self, name: str, rank: int, size: int, hangs: tuple[str, ...] = ()) -> None:
        self._name, self._rank, self._size, self._hangs = name, rank, size, hangs
        self._pre: dict[int, Callable[[OpName, int, Any], None]] = {}
        self._post: dict[int, Callable[[int, Any], None]] = {}
        self._ops = 0

    def get_name(self) -> str:
        return self._name

    def get_rank(self) -> int:
        return self._rank

    def get_size(self) -> int:
        return self._size

    def get_backend(self) -> str:
        return "ncclx"

    def register_pre_hook(self, callback: Callable[[OpName, int, Any], None]) -> RemovableHandle:
        self._pre[len(self._pre)] = callback
        return RemovableHandle(self._pre, len(self._pre) - 1)

    def register_post_hook(self, callback: Callable[[int, Any], None]) -> RemovableHandle:
        self._post[len(self._post)] = callback
        return RemovableHandle(self._post, len(self._post) - 1)

    def _call(self, name: OpName, async_op: bool, **values: Any) -> TorchWork:
        op_id, self._ops = self._ops, self._ops + 1
        for before in list(self._pre.values()):
            before(name, op_id, Args(async_op, **values))

        def finish() -> None:
            for after in list(self._post.values()) if name.name not in self._hangs else []:
                after(op_id, object())

        if not async_op:
            finish()
        return TorchWork(finish)

    def all_reduce(self, tensor: Any, op: Any, async_op: bool) -> TorchWork:
        return self._call(OpName.all_reduce, async_op, tensor=tensor)

    def all_gather(self, tensor_list: list[Any], tensor: Any, async_op: bool) -> TorchWork:
        return self._call(OpName.all_gather, async_op, input=tensor, output=tensor_list)

    def send(self, tensor: Any, dst: int, async_op: bool) -> TorchWork:
        return self._call(OpName.send, async_op, tensor=tensor, peer=dst)

    def barrier(self, async_op: bool) -> TorchWork:
        return self._call(OpName.barrier, async_op)

    def finalize(self) -> None:
        self._call(OpName.finalize, False)
