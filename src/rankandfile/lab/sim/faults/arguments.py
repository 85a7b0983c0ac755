"""All ranks make the call, but not with the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rankandfile.lab.sim.faults.fault import Fault, Ranks, at, marked
from rankandfile.lab.sim.ops import Call, Op


def _changed(
    cause: str, ranks: Ranks, site: str, nth: int, place: str, change: Callable[[Call], Call], fix: str
) -> Fault:
    def act(op: Op) -> list[Op]:
        if not isinstance(op, Call):
            raise TypeError(f"{site} is no collective")
        return [marked("argument", op), change(op)]

    return Fault(cause, ranks, place, "argument", at(site, nth, act), fix=fix, from_dumps=cause)


def size(ranks: Ranks, site: str, nth: int, place: str, factor: float = 1.5) -> Fault:
    def change(call: Call) -> Call:
        def shapes(old: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
            return tuple((int(shape[0] * factor), *shape[1:]) for shape in old)

        return call._replace(inputs=shapes(call.inputs), outputs=shapes(call.outputs))

    return _changed("size_mismatch", ranks, site, nth, place, change, "pad to a common size before the call")


def dtype(ranks: Ranks, site: str, nth: int, place: str) -> Fault:
    return _changed(
        "dtype_mismatch", ranks, site, nth, place, lambda call: call._replace(dtype="Double"), "pin the dtype"
    )


def root(ranks: Ranks, site: str, nth: int, place: str, to: int) -> Fault:
    """The recorder keeps no root, so the dumps cannot tell: only the stacks agree too well."""
    fix = "compute the root from shared values"
    fault = _changed("root_mismatch", ranks, site, nth, place, lambda call: call._replace(root=to), fix)
    return replace(fault, accepted=("network_stalled",), from_dumps="", ranks_from_dumps=())


def splits(ranks: Ranks, site: str, nth: int) -> Fault:
    """A rank pads what it sends to its neighbour; the neighbour expects the unpadded rows."""

    def change(call: Call) -> Call:
        assert call.splits is not None
        sent = (call.splits[0] + 64, *call.splits[1:])
        return call._replace(splits=sent, inputs=((sum(sent), *call.inputs[0][1:]),))

    fix = "derive both split lists from the exchanged counts"
    return _changed("split_mismatch", ranks, site, nth, "splits_if", change, fix)


def group(ranks: Ranks, site: str, nth: int, place: str, to: str) -> Fault:
    """The call goes to another group than the peers'."""
    fix = "choose the group in one place"
    return _changed("group_mismatch", ranks, site, nth, place, lambda call: call._replace(group=to), fix)
