"""What stands before a line's own text: who carried it, when, and from which process.

Prefixes are peeled from the left, in any order, as often as one matches, because carriers are stacked: kubectl over
torchrun over torch's own. Nothing depends on the layer being there. Each is found by its first character, which
keeps a line of ordinary text cheap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from .stamps import Stamp, month, since_boot, stamp, time_of_day


class _Match(Protocol):
    """What a layer's pattern has found; its groups count from one."""

    def __getitem__(self, group: int, /) -> Any: ...


@dataclass(slots=True)
class Peeled:
    """A line's own text, and what its prefixes said. The innermost prefix wins: it is the writer's own."""

    body: str = ""
    rank: int | None = None
    rank_from: str | None = None
    local_rank: int | None = None
    task: int | None = None
    """The task of ``srun --label`` or ``mpirun``: the global rank only where a task is a rank."""
    host: str | None = None
    pid: int | None = None
    thread: int | None = None
    device: int | None = None
    """CUDA device in NCCL's lines; not a rank."""
    time: Stamp | None = None
    severity: str | None = None
    source: str | None = None
    """The source file in the writer, such as ProcessGroupNCCL.cpp."""
    partial: bool = False
    """The container runtime cut this line; it goes on in the next one."""
    nccl: bool = False
    kernel: bool = False
    layers: list[str] = field(default_factory=list)

    def at(self, time: Stamp | None) -> None:
        """A second time does not replace a better one: a carrier's full date beats a bare time of day."""
        if time is not None and (self.time is None or _WORTH[time.quality] >= _WORTH[self.time.quality]):
            self.time = time


_WORTH = {"boot": 0, "no_date": 1, "no_year": 2, "wall": 3, "zoned": 3}

_CLOCK = r"(\d\d:\d\d:\d\d)"
_DATE = r"(\d{4})-(\d\d)-(\d\d)"


def _rank(p: Peeled, m: _Match) -> None:
    p.rank, p.rank_from = int(m[1]), "prefix"


def _role(p: Peeled, m: _Match) -> None:
    p.local_rank = int(m[2])


def _c10(p: Peeled, m: _Match) -> None:
    p.severity, p.source = m[1], m[5]
    p.at(stamp(None, int(m[2][:-2]), int(m[2][-2:]), m[3], m[4]))


def _c10_old(p: Peeled, m: _Match) -> None:
    p.severity, p.source = m[1], m[2]


def _agent(p: Peeled, m: _Match) -> None:
    p.severity, p.pid, p.source = m[1], int(m[5]), m[6]
    p.at(stamp(None, int(m[2][:-2]), int(m[2][-2:]), m[3], m[4]))


def _dated(p: Peeled, m: _Match) -> None:
    p.at(stamp(int(m[1]), int(m[2]), int(m[3]), m[4], m[5], m[6]))


def _timed(p: Peeled, m: _Match) -> None:
    p.at(time_of_day(m[1], m[2]))


def _logger(p: Peeled, m: _Match) -> None:
    p.source, p.severity = m[1], m[2][0]


def _warning(p: Peeled, m: _Match) -> None:
    p.severity, p.source = m[1][0], m[2]


def _nccl(p: Peeled, m: _Match) -> None:
    p.host, p.pid, p.thread, p.device, p.nccl = m[1], int(m[2]), int(m[3]), int(m[4]), True
    p.source, p.severity = m[5], m[6][0]


def _nccl_bare(p: Peeled, m: _Match) -> None:
    p.nccl, p.severity = True, m[1][0]


def _cri(p: Peeled, m: _Match) -> None:
    _dated(p, m)
    p.partial = m[8] == "P"


def _task(p: Peeled, m: _Match) -> None:
    p.task = int(m[1])


def _ray(p: Peeled, m: _Match) -> None:
    p.pid = int(m[1])
    if m[2]:
        p.host = m[2]


def _host(p: Peeled, m: _Match) -> None:
    p.host = m[1]


def _syslog(p: Peeled, m: _Match) -> None:
    p.at(stamp(None, month(m[1]), int(m[2]), m[3]))
    p.host, p.kernel = m[4], m[5] == "kernel"
    if m[6]:
        p.pid = int(m[6])


def _journal(p: Peeled, m: _Match) -> None:
    _dated(p, m)
    p.host, p.kernel = m[7], m[8] == "kernel"


def _boot(p: Peeled, m: _Match) -> None:
    p.at(since_boot(m[1], m[2]))
    p.kernel = True


def _dmesg_t(p: Peeled, m: _Match) -> None:
    p.at(stamp(int(m[4]), month(m[1]), int(m[2]), m[3]))
    p.kernel = True


def _kernel_level(p: Peeled, _match: _Match) -> None:
    p.kernel = True


def _app_rank(p: Peeled, m: _Match) -> None:
    if p.rank is None:
        p.rank, p.rank_from = int(m[1]), "app"


def _nothing(_peeled: Peeled, _match: _Match) -> None:
    pass


#: A word before a colon is a host only if it has a digit in it, and is none of these.
_NO_HOST = (
    r"(?!(?:rank|step|epoch|iter|gpu|task|worker_?|frame|line|batch|loss|mlx5_|eth|nvme|sd)\d*:)"
    r"(?!slurmstepd|[\w.]*(?:Error|Exception|Warning|Interrupt):)"
)

#: first characters, name of the layer, pattern, what it gives
_LAYERS: tuple[tuple[str, str, str, Callable[[Peeled, _Match], None]], ...] = (
    ("[", "rank", r"\[rank(\d{1,7})\[?\]:? ?", _rank),
    ("[", "c10", rf"\[([IWEFV])(\d{{3,4}}) {_CLOCK}\.(\d{{1,9}}) ([\w./+-]+:\d+)\] ?", _c10),
    ("[", "c10", r"\[([IWEF]) ([\w./+-]+:\d+)\] ?", _c10_old),
    ("[", "torchrun", r"\[([A-Za-z_]\w*?)(\d{1,6})(?:\|\d+)?\]:", _role),
    ("[", "kubectl", r"\[pod/[^\]\s]{1,300}\] ", _nothing),
    ("[", "mpirun", r"\[\d+,(\d{1,7})\]<std\w+>: ?", _task),
    ("[", "python", r"\[(torch\.\w[\w.]*)[^\]]*\] ", _nothing),
    ("[", "time", rf"\[{_DATE}[ T]{_CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)?\] ?", _dated),
    ("[", "kernel", r"\[ *(\d{1,12})\.(\d{6})\](?:\[ *[TC]\d+\])? ?", _boot),
    ("[", "kernel", rf"\[\w{{3}} (\w{{3}}) +(\d{{1,2}}) {_CLOCK} (\d{{4}})\] ?", _dmesg_t),
    ("[", "number", r"\[\d{3,12}\] (?!is setting up)", _nothing),
    ("[", "level", r"\[(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\] ", _nothing),
    ("[", "app", r"\[[Rr]ank[ =:](\d{1,7})\] (?=\[?(?:DEBUG|INFO|WARN|ERROR|CRITICAL))", _app_rank),
    ("Rr", "app", r"[Rr]ank[ =:](\d{1,7})[ :|-]+(?=\[?(?:DEBUG|INFO|WARN|ERROR|CRITICAL))", _app_rank),
    ("IWEFV", "torchrun", rf"([IWEFV])(\d{{3,4}}) {_CLOCK}\.(\d{{1,9}}) +(\d+) ([\w./\\-]+:\d+)\] ?", _agent),
    ("t", "torchrun", r"(torch\.\w[\w.]*): \[(INFO|WARNING|ERROR)\] ?", _logger),
    ("IWEC", "python", r"(INFO|WARNING|ERROR|CRITICAL):([\w.]+): ?", _warning),
    ("digit", "cri", rf"{_DATE}T{_CLOCK}(?:\.(\d{{1,9}}))?(Z|[+-]\d\d:?\d\d) (stdout|stderr) ([FP]) ", _cri),
    (
        "digit",
        "journal",
        rf"{_DATE}T{_CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)? ([\w.-]+) ([\w.-]+)(?:\[\d+\])?: ",
        _journal,
    ),
    (
        "digit",
        "time",
        rf"{_DATE}[ T]{_CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)?:?(?: - |[ \t|]+)",
        _dated,
    ),
    ("digit", "time", rf"{_CLOCK}(?:[.,](\d{{1,9}}))?:? +", _timed),
    (" digit", "task", r" *(\d{1,6}): ", _task),
    ("(", "ray", r"\(\w+(?:\([^)]{0,200}\))? pid=(\d{1,10})(?:, ip=([^)\s]{1,60}))?\) ?", _ray),
    (
        "word",
        "nccl",
        r"([\w.-]+):(\d{1,10}):(\d{1,10}) \[(-?\d+)\] (?:(\S{1,200}:\d+) (?:\(\w+\) )?)?"
        r"(?:[NRXHME]CCL|CNCL) (INFO|WARN|TRACE) ?",
        _nccl,
    ),
    ("NRXHMEC", "nccl", r"(?:[NRXHME]CCL|CNCL) (INFO|WARN|TRACE) ", _nccl_bare),
    ("word", "compose", r"[\w.-]{1,80} +\| ", _nothing),
    (
        "word",
        "host",
        rf"{_NO_HOST}(?=[\w.-]*\d)((?:\d{{1,3}}\.){{3}}\d{{1,3}}|[A-Za-z][\w.-]{{0,80}}): ",
        _host,
    ),
    (
        "word",
        "syslog",
        rf"(\w{{3}}) +(\d{{1,2}}) {_CLOCK} ([\w.-]+) ([\w.-]+)(?:\[(\d{{1,10}})\])?: ",
        _syslog,
    ),
    ("k", "kernel", r"kernel: ", _kernel_level),
    ("ukdaLs<", "kernel", r"(?:<\d{1,3}>|(?:kern|user|daemon) *:\w+ *: )", _kernel_level),
)

_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
_CLASSES = {"digit": "0123456789", " digit": " 0123456789", "word": _WORD}
_Give = Callable[[Peeled, _Match], None]


class _Choice:
    """All layers that may begin with a character, as one pattern: most lines' own text is none of them, and learns
    so at once. An empty group behind each tells which of them it was, and how many groups lie before its own."""

    def __init__(self, layers: Sequence[tuple[str, str, _Give]]) -> None:
        self.pattern = re.compile("|".join(f"{pattern}()" for _, pattern, _ in layers))
        self.layer: dict[int | None, tuple[str, int, _Give]] = {}
        before = 0
        for name, pattern, give in layers:
            last = before + re.compile(pattern).groups + 1
            self.layer[last] = (name, before, give)
            before = last


def _choices() -> dict[str, _Choice]:
    by_first: dict[str, list[tuple[str, str, _Give]]] = {}
    for first, name, pattern, give in _LAYERS:
        for character in _CLASSES.get(first, first):
            by_first.setdefault(character, []).append((name, pattern, give))
    alike: dict[tuple[str, ...], _Choice] = {}
    return {
        character: alike.setdefault(tuple(pattern for _, pattern, _ in layers), _Choice(layers))
        for character, layers in by_first.items()
    }


_BY_FIRST = _choices()

#: More layers than any stack of carriers has; a line of nothing but prefixes stays bounded.
_DEEPEST = 24


#: A container's log as docker keeps it: one JSON object per line.
_DOCKER = '{"log":"'
_ISO = re.compile(rf"{_DATE}T{_CLOCK}(?:\.(\d{{1,9}}))?(Z|[+-]\d\d:\d\d)?$")


def peel(line: str) -> Peeled:
    """A line's own text and what stood before it."""
    if line.startswith(_DOCKER):
        return _docker(line)
    peeled = Peeled()
    position = 0
    for _ in range(_DEEPEST):
        choice = _BY_FIRST.get(line[position : position + 1])
        match = choice and choice.pattern.match(line, position)
        if not choice or not match:
            break
        name, before, give = choice.layer[match.lastindex]
        give(peeled, match.groups()[before - 1 : match.lastindex] if before else match)
        peeled.layers.append(name)
        position = match.end()
    peeled.body = line[position:]
    return peeled


def _docker(line: str) -> Peeled:
    try:
        document = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return peel(line[len(_DOCKER) :])
    text, time = document.get("log"), document.get("time")
    peeled = (
        peel(text.rstrip("\n"))
        if isinstance(text, str) and not text.startswith(_DOCKER)
        else Peeled(body=line)
    )
    if isinstance(time, str) and (match := _ISO.match(time)):
        _dated(peeled, match)
    peeled.layers.insert(0, "docker")
    return peeled
