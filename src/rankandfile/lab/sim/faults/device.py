"""The device or the fabric fails under programs that are right."""

from __future__ import annotations

from rankandfile.lab.sim.faults.fault import Fault, Ranks, ahead_of, at, marked
from rankandfile.lab.sim.layout import Group
from rankandfile.lab.sim.ops import Compute, DeviceFault, Leave, Say, Work


def gpu_stuck(ranks: Ranks, site: str, nth: int, place: str, *, timing: bool) -> Fault:
    """A kernel before the collective never ends. All ranks have issued the call; this device never reaches it."""
    return Fault(
        "gpu_stuck", ranks, place, "none",
        at(site, nth, lambda op: [marked("none", op), Compute(None), op]),
        fix="find the kernel that never ends on that device; replace the device if it is not the code",
        accepted=() if timing else ("network_stalled",), from_dumps="gpu_stuck" if timing else "",
        ranks_from_dumps=None if timing else (),
    )  # fmt: skip


def gpu_error(ranks: Ranks, site: str, nth: int, place: str, text: str, kernel: str) -> Fault:
    return Fault(
        "gpu_error", ranks, place, "none",
        at(site, nth, lambda op: [marked("none", op), DeviceFault(text), op]),
        fix="see what the device reports", ranks_from_dumps=(), kernel=kernel,
    )  # fmt: skip


def stalled(group: str, position: int, *, link: bool = False, ranks: Ranks = ()) -> Fault:
    """Everyone has joined one collective of the named group, and it does not finish."""

    def never(candidate: Group, at_position: int) -> bool:
        return candidate.name == group and at_position == position

    return Fault(
        "link_error" if link else "network_stalled", ranks, "", "none", stalled=never,
        fix="check the link that reports errors" if link else "look at the fabric: the program is right",
        accepted=("network_stalled",) if link else ("gpu_stuck",),
        ranks_from_dumps=() if link else None, library="ib_error" if link else "", kernel="link_down" if link else "",
    )  # fmt: skip


def unreachable(ranks: Ranks, site: str, nth: int) -> Fault:
    """A node drops off: no exit, no log line, no dump; its peers' transports give up."""
    return Fault(
        "peer_unreachable", ranks, "", "absent",
        ahead_of(site, nth, Leave("vanished", "exit", 0)),
        fix="take the node out", accepted=("killed", "link_error"), ranks_from_dumps=(), library="ib_timeout",
    )  # fmt: skip


def init_stuck(ranks: Ranks) -> Fault:
    """A rank never comes to its first collective, so the communicator is never made: nothing is recorded, and no
    watchdog runs."""
    return Fault(
        "init_stuck", ranks, "build_index", "absent",
        ahead_of("prepare_barrier", 1, Work(None, "build_index")),
        fix="prepare the data before the job starts", accepted=("host_blocked", "host_slow"), ranks_from_dumps=(),
        library="init",
    )  # fmt: skip


def teardown(ranks: Ranks) -> Fault:
    """Training is over; a rank never returns from destroying its groups."""
    last_words = (Say("training complete"), Leave("destroying", "destroy"))
    return Fault(
        "teardown_only", ranks, "destroy", "none",
        at("final_sync", 1, lambda op: [op, marked("none", op), *last_words]),
        fix="synchronise, then let the process end without destroying", accepted=("no_hang",), ranks_from_dumps=(),
    )  # fmt: skip
