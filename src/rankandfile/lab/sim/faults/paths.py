"""Ranks take different paths."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.sim.faults.fault import Fault, Ranks, at, cut, marked, until
from rankandfile.lab.sim.ops import Batch, Call, Leave, Mark, Op, Program, Say, Transfer


def skipped(ranks: Ranks, site: str, nth: int, place: str) -> Fault:
    """One call is left out; everything after it pairs one too early."""
    return Fault(
        "skipped_collective", ranks, place, "skipped", at(site, nth, lambda op: [marked("skipped", op)]),
        fix="issue the call on every rank", from_dumps="skipped_collective", accepted=("rank_conditional",),
    )  # fmt: skip


def skipped_step(ranks: Ranks, nth: int, first_site: str, place: str) -> Fault:
    """A rank decides for itself that this step's result is no good, and goes to the next batch."""
    said = Say("WARNING loss is not finite, step skipped")
    return Fault(
        "skipped_collective", ranks, place, "skipped", cut(first_site, nth, "read_batch", (said,), "skipped"),
        fix="agree on the decision with an all_reduce before any rank acts on it",
        from_dumps="skipped_collective", accepted=("rank_conditional",),
    )  # fmt: skip


def extra(
    ranks: Ranks, before: str, nth: int, call: Call, place: str, cause: str = "extra_collective"
) -> Fault:
    """One call more than the peers make: it pairs with their next one."""
    return Fault(
        cause, ranks, place, "extra", at(before, nth, lambda op: [Mark("extra", call), call, op]),
        fix="issue the call on every rank, or not at all", from_dumps="extra_collective",
        accepted=("rank_conditional", "extra_collective"),
    )  # fmt: skip


def different(ranks: Ranks, site: str, nth: int, call: Call, place: str) -> Fault:
    """Another operation where the peers reduce."""
    return Fault(
        "different_collective", ranks, place, "substituted",
        at(site, nth, lambda op: [marked("substituted", op), call]),
        fix="take the branch from a value that all ranks share", from_dumps="different_collective",
        accepted=("rank_conditional",),
    )  # fmt: skip


def swapped(
    ranks: Ranks, site: str, nth: int, place: str, *, across_groups: bool, whole: bool = False, late: str = ""
) -> Fault:
    """A call and the next one change places; `whole`: with what follows each of them, such as a look at the
    result; `late`: the site at which the first of them is made then."""
    kind = "cycle" if across_groups else "swapped"

    def bend(program: Program) -> Iterator[Op]:
        op = yield from until(program, site, nth)
        if op is None:
            return
        yield marked(kind, op)
        if late and isinstance(op, Call):
            op = op._replace(site=late)
        first, following = _up_to_call(program)
        second, after = _up_to_call(program) if whole else ([], None)
        yield from (following, *second, op, *first) if whole else (*first, following, op)
        if after is not None:
            yield after
        yield from program

    return Fault(
        "order_inversion", ranks, place, kind, bend,
        fix="issue the calls in the same order on every rank", from_dumps="order_inversion",
    )  # fmt: skip


def _up_to_call(program: Program) -> tuple[list[Op], Op]:
    """What comes before the next communication, and that."""
    before: list[Op] = []
    for op in program:
        if isinstance(op, (Call, Transfer, Batch)):
            return before, op
        before.append(op)
    raise ValueError("the program ends before another call")


def early_exit(ranks: Ranks, nth: int) -> Fault:
    """A rank stops by its own criterion and ends, with status 0."""
    said = Say("early stopping: no patience left")
    bend = cut("read_batch", nth, "never", (said,), "absent", (Leave("left", "exit", 0, "early stopping"),))
    return Fault(
        "early_exit", ranks, "stop_if", "absent", bend, fix="reduce the stop flag over all ranks",
        accepted=("exited", "uneven_inputs"), ranks_from_dumps=(),
    )  # fmt: skip


def uneven(ranks: Ranks, nth: int) -> Fault:
    """A rank has fewer batches and goes on to what comes after the loop."""
    return Fault(
        "uneven_inputs", ranks, "next_batch", "absent",
        cut("read_batch", nth, "predictions_gather", (), "absent"),
        fix="give every rank the same number of batches, or agree on the last one",
        accepted=("early_exit", "skipped_collective", "different_collective"), from_dumps="skipped_collective",
    )  # fmt: skip


def swallowed(ranks: Ranks, nth: int) -> Fault:
    """An exception ends the step on one rank; a handler logs it and the loop goes on."""
    said = Say("WARNING trainkit step: bad sample, batch skipped: token 151936 in shard-0007.bin")
    return Fault(
        "swallowed_exception", ranks, "swallow", "skipped", cut("read_batch", nth, "read_batch", (said,), "skipped"),
        fix="let the exception end the job, or agree that all ranks skip the batch",
        accepted=("skipped_collective",), from_dumps="skipped_collective",
    )  # fmt: skip
