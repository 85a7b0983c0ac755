"""What a fault is, and the two ways to bend a program that almost all of them use."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from itertools import dropwhile

from rankandfile.lab.sim.layout import Group
from rankandfile.lab.sim.ops import Batch, Call, Mark, Op, Program, Transfer, Work

Ranks = tuple[int, ...]
Bend = Callable[[Program], Program]


@dataclass(frozen=True)
class Fault:
    """One cause, at some ranks. `place` marks the line where the ranks part; `kind` is the divergence's."""

    cause: str
    ranks: tuple[int, ...]
    place: str
    kind: str
    bend: Bend | None = None
    stalled: Callable[[Group, int], bool] | None = None
    fix: str = ""
    accepted: tuple[str, ...] = ()
    from_dumps: str = ""  # the cause that dumps alone can prove; empty: none
    ranks_from_dumps: tuple[int, ...] | None = None  # None: the same ranks
    kernel: str = ""  # what the kernel of the first rank's node logs: a key of kernel_log.LINES
    library: str = ""  # what the peers' NCCL logs: a key of nccl_log.LINES
    hang: bool = True


def place_of(op: Op) -> str | None:
    """The site by which faults address an operation, in whatever phase of a schedule."""
    site: str | None = op.doing if isinstance(op, Work) else getattr(op, "site", None)
    return site.partition("@")[0] if site is not None else None


def until(program: Program, site: str, nth: int) -> Generator[Op, None, Op | None]:
    """Everything before the nth operation of a site; returns that, or None if the program ends before."""
    seen = 0
    for op in program:
        seen += place_of(op) == site
        if seen == nth:
            return op
        yield op
    return None


def at(site: str, nth: int, act: Callable[[Op], Iterable[Op]]) -> Bend:
    """Replace the nth operation of a site by what `act` makes of it."""

    def bend(program: Program) -> Iterator[Op]:
        op = yield from until(program, site, nth)
        if op is not None:
            yield from act(op)
            yield from program

    return bend


def ahead_of(site: str, nth: int, *ops: Op) -> Bend:
    """Do something at the nth operation of a site; the truth sees the rank missing from its next communication."""

    def bend(program: Program) -> Iterator[Op]:
        op = yield from until(program, site, nth)
        if op is None:
            return
        held = [op]
        while _communication(held[-1]) is None:
            held.append(next(program))
        yield Mark("absent", _communication(held[-1]))
        yield from ops
        yield from held
        yield from program

    return bend


def cut(
    site: str, nth: int, resume: str, first: tuple[Op, ...], kind: str, then: tuple[Op, ...] = ()
) -> Bend:
    """From the nth operation of a site drop everything up to the next one of `resume`; the first call dropped is
    where the truth sees the ranks part. `first` and `then` happen instead, before and after that is noted."""

    def bend(program: Program) -> Iterator[Op]:
        op = yield from until(program, site, nth)
        if op is None:
            return
        yield from first
        call = _communication(op)
        while call is None:
            call = _communication(next(program))
        yield Mark(kind, call)
        yield from then
        yield from dropwhile(lambda later: place_of(later) != resume, program)

    return bend


def _communication(op: Op) -> Call | Transfer | Batch | None:
    return op if isinstance(op, (Call, Transfer, Batch)) else None


def marked(kind: str, op: Op) -> Mark:
    """The mark of an operation that a fault addresses; only communication can be diverged at."""
    return Mark(kind, _communication(op))
