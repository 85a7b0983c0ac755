"""The layers that may stand before a line's own text: one row each, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from rankandfile.evidence.text.stamps import month, since_boot, stamp, time_of_day

from .bare_line import BareLine
from .stacks.titles import rank_in


class Match(Protocol):
    """What a layer's pattern has found; its groups count from one."""

    def __getitem__(self, group: int, /) -> Any: ...


Give: TypeAlias = Callable[[BareLine, Match], None]

CLOCK = r"(\d\d:\d\d:\d\d)"
DATE = r"(\d{4})-(\d\d)-(\d\d)"


def _rank(p: BareLine, m: Match) -> None:
    p.rank, p.rank_from = int(m[1]), "prefix"


def _role(p: BareLine, m: Match) -> None:
    p.local_rank = int(m[2])
    p.carrier += f"{m[1]}{m[2]}:"


def _c10(p: BareLine, m: Match) -> None:
    p.severity, p.source = m[1], m[5]
    p.at(stamp(None, int(m[2][:-2]), int(m[2][-2:]), m[3], m[4]))


def _c10_old(p: BareLine, m: Match) -> None:
    p.severity, p.source = m[1], m[2]


def _agent(p: BareLine, m: Match) -> None:
    p.severity, p.pid, p.source = m[1], int(m[5]), m[6]
    p.at(stamp(None, int(m[2][:-2]), int(m[2][-2:]), m[3], m[4]))


def dated(p: BareLine, m: Match) -> None:
    p.at(stamp(int(m[1]), int(m[2]), int(m[3]), m[4], m[5], m[6]))


def _timed(p: BareLine, m: Match) -> None:
    p.at(time_of_day(m[1], m[2]))


def _logger(p: BareLine, m: Match) -> None:
    p.source, p.severity = m[1], m[2][0]


def _warning(p: BareLine, m: Match) -> None:
    p.severity, p.source = m[1][0], m[2]


def _level(p: BareLine, m: Match) -> None:
    p.severity = m[1][0]


def _nccl(p: BareLine, m: Match) -> None:
    p.host, p.pid, p.thread, p.device, p.nccl = m[1], int(m[2]), int(m[3]), int(m[4]), True
    p.source, p.severity = m[5], m[6][0]


def _nccl_bare(p: BareLine, m: Match) -> None:
    p.nccl, p.severity = True, m[1][0]


def _cri(p: BareLine, m: Match) -> None:
    dated(p, m)
    p.partial = m[8] == "P"


def _task(p: BareLine, m: Match) -> None:
    p.task = int(m[1])
    p.carrier += f"{m[1]}:"


def _mpi(p: BareLine, m: Match) -> None:
    """The tag is the rank in MPI's world: of the job, unless each of these processes starts others."""
    _task(p, m)
    if p.rank is None:
        p.rank, p.rank_from = p.task, "mpirun"


def _ray(p: BareLine, m: Match) -> None:
    p.pid = int(m[2])
    if m[1] and p.rank is None:
        p.rank, p.rank_from = int(m[1]), "prefix"
    if m[3]:
        p.host = m[3]
    p.carrier += f"{m[2]} {m[3]}:"


def _vllm(p: BareLine, m: Match) -> None:
    """vLLM puts it before each line of a message, those of a traceback too."""
    p.severity, p.source = m[1][0], m[6]
    p.at(stamp(None, int(m[2]), int(m[3]), m[4], m[5]))


def _server(p: BareLine, m: Match) -> None:
    """SGLang's processes name their places on the axes of the model: ` DP0 TP5`."""
    dated(p, m)
    rank = rank_in(f"sglang::{m[7].replace(' ', '_')}")
    if rank is not None and p.rank is None:
        p.rank, p.rank_from = rank, "prefix"
    p.carrier += f"{m[7]}:"


def _host(p: BareLine, m: Match) -> None:
    p.host = m[1]
    p.carrier += f"{m[1]}:"


def _carried(p: BareLine, m: Match) -> None:
    p.carrier += f"{m[1]}:"


def _syslog(p: BareLine, m: Match) -> None:
    p.at(stamp(None, month(m[1]), int(m[2]), m[3]))
    p.host, p.kernel = m[4], m[5] == "kernel"
    p.carrier += f"{m[4]} {m[5]} {m[6]}:"
    if m[6]:
        p.pid = int(m[6])


def _journal(p: BareLine, m: Match) -> None:
    dated(p, m)
    p.host, p.kernel = m[7], m[8] == "kernel"
    p.carrier += f"{m[7]} {m[8]}:"


def _boot(p: BareLine, m: Match) -> None:
    p.at(since_boot(m[1], m[2]))
    p.kernel = True


def _of_weekday(p: BareLine, m: Match) -> None:
    """As `ctime` writes it, and launchers before their tags."""
    p.at(stamp(int(m[4]), month(m[1]), int(m[2]), m[3]))


def _dmesg_t(p: BareLine, m: Match) -> None:
    p.at(stamp(int(m[4]), month(m[1]), int(m[2]), m[3].zfill(8)))
    p.kernel = True


def _kernel_level(p: BareLine, _match: Match) -> None:
    p.kernel = True


def _app_rank(p: BareLine, m: Match) -> None:
    if p.rank is None:
        p.rank, p.rank_from = int(m[1]), "app"


def _nothing(_peeled: BareLine, _match: Match) -> None:
    pass


#: A word before a colon is a host only if it has a digit in it, and is none of these.
_NO_HOST = (
    r"(?!(?:rank|step|epoch|iter|gpu|task|worker_?|frame|line|batch|loss|mlx5_|eth|nvme|sd)\d*:)"
    r"(?!slurmstepd|[A-Z]{2}\d{4}:|[\w.]*(?:Error|Exception|Warning|Interrupt):)"
)

#: What is said of a rank, and not by it: `rank3 failed to join`, against `rank3 shard 12 done`.
_NO_VERB = (
    r"(?!(?:is|was|are|were|has|had|have|did|does|do|failed|fails|timed|times|died|dies|exited|exits|raised|raises|got|gets|"
    r"joined|joins|never|not|cannot|can|could|will|would|only|also|and|or|to|of|in|at|from|for|with|on|waits?|waited|"
    r"reached|received|sent|killed|terminated|lost|successfully|should|must|may|vs|but|went|left|ran)\b)"
)

#: first characters, name of the layer, pattern, what it gives
LAYERS: tuple[tuple[str, str, str, Give], ...] = (
    ("[", "rank", r"\[rank(\d{1,7})\[?\]:? ?", _rank),
    ("[", "c10", rf"\[([IWEFV])(\d{{3,4}}) {CLOCK}\.(\d{{1,9}}) ([\w./+-]+:\d+)\] ?", _c10),
    ("[", "c10", r"\[([IWEF]) ([\w./+-]+:\d+)\] ?", _c10_old),
    ("[", "torchrun", r"\[([A-Za-z_]\w*?)(\d{1,6})(?:\|\d+)?\]:", _role),
    ("[", "kubectl", r"\[(pod/[^\]\s]{1,300})\] ", _carried),
    (
        "[",
        "mpirun",
        r"\[(?:[\w@.-]{1,200},)?(?:mpirank:)?(\d{1,7})(?:,[\w.-]{1,80})?\]"
        r"(?:\[[\w.-]{1,80}:\d+\])?<std(?:out|err|diag)>: ?",
        _mpi,
    ),
    ("[", "python", r"\[(torch\.\w[\w.]*)[^\]]*\] ", _nothing),
    ("[", "time", rf"\[{DATE}[ T]{CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)?\] ?", dated),
    (
        "[",
        "server",
        rf"\[{DATE}[ T]{CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)?((?: (?:DP|PP|TP|EP|CP|DCP)\d{{1,5}})+)\] ?",
        _server,
    ),
    ("[", "kernel", r"\[ *(\d{1,12})\.(\d{6})\](?:\[ *[TC]\d+\])? ?", _boot),
    ("[", "kernel", r"\[\w{3} (\w{3}) +(\d{1,2}) +(\d{1,2}:\d\d:\d\d) (\d{4})\] ?", _dmesg_t),
    # Launchers that number their tasks, over a line of a stack: elsewhere such a number may count anything.
    (
        "[",
        "task",
        r"\[(\d{1,6})\] ?(?=Process \d|Python v|(?:Current t|T)hread |  +\S|Traceback (?:for|\(most) |\[rank\d|$"
        r"|[A-Za-z_][\w.]{0,80}(?:Error|Exception|Interrupt)\b)",
        _task,
    ),
    ("[", "number", r"\[\d{3,12}\] (?!is setting up)", _nothing),
    ("[", "level", r"\[(INFO|WARN|WARNING|ERROR|DEBUG|CRITICAL)\] ", _level),
    ("[", "app", r"\[[Rr]ank[ =:](\d{1,7})\] (?=\[?(?:DEBUG|INFO|WARN|ERROR|CRITICAL))", _app_rank),
    ("Rr", "app", r"[Rr]ank[ =:](\d{1,7})[ :|-]+(?=\[?(?:DEBUG|INFO|WARN|ERROR|CRITICAL))", _app_rank),
    ("r", "app", r"rank[ =#]?(\d{1,7})(?:/\d{1,7})?(?: ?[|:] | - )", _app_rank),
    ("r", "app", rf"rank(\d{{1,7}})(?:/\d{{1,7}})? (?={_NO_VERB}[a-z])", _app_rank),
    ("IWEFV", "torchrun", rf"([IWEFV])(\d{{3,4}}) {CLOCK}\.(\d{{1,9}}) +(\d+) ([\w./\\-]+:\d+)\] ?", _agent),
    ("t", "torchrun", r"(torch\.\w[\w.]*): \[(INFO|WARNING|ERROR)\] ?", _logger),
    (
        "DIWEC",
        "vllm",
        rf"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d)-(\d\d) {CLOCK}(?:\.(\d{{1,9}}))? \[([\w./\\-]{{1,200}}:\d+)\] ?",
        _vllm,
    ),
    ("IWEC", "python", r"(INFO|WARNING|ERROR|CRITICAL):([\w.]+): ?", _warning),
    ("digit", "cri", rf"{DATE}T{CLOCK}(?:\.(\d{{1,9}}))?(Z|[+-]\d\d:?\d\d) (stdout|stderr) ([FP]) ", _cri),
    (
        "digit",
        "journal",
        rf"{DATE}T{CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)? ([\w.-]+) ([\w.-]+)(?:\[\d+\])?: ",
        _journal,
    ),
    ("digit", "time", rf"{DATE}[ T]{CLOCK}(?:[.,](\d{{1,9}}))?(Z|[+-]\d\d:?\d\d)?:?(?: - |[ \t|]+)", dated),
    ("digit", "time", rf"{CLOCK}(?:[.,](\d{{1,9}}))?:? +", _timed),
    (" digit", "task", r" *(\d{1,6}): ", _task),
    (
        "(",
        "ray",
        r"\(\w+(?:\([^)]{0,200}\))?(?: rank=(\d{1,6}))? pid=(\d{1,10})(?:, ip=([^)\s]{1,60}))?\) ?",
        _ray,
    ),
    (
        "word",
        "stern",
        r"((?:[a-z0-9]{1,60}-){2,8}(?=[a-z]{0,9}\d)[a-z0-9]{1,12}) [a-z][a-z0-9-]{2,40} (?=\S|  )",
        _carried,
    ),
    (
        "word",
        "nccl",
        r"([\w.-]+):(\d{1,10}):(\d{1,10}) \[(-?\d+)\] (?:(\S{1,200}:\d+) (?:\(\w+\) )?)?"
        r"(?:[NRXHME]CCL|CNCL) (INFO|WARN|TRACE) ?",
        _nccl,
    ),
    ("NRXHMEC", "nccl", r"(?:[NRXHME]CCL|CNCL) (INFO|WARN|TRACE) ", _nccl_bare),
    ("word", "level", r"(INFO|WARNING|ERROR|DEBUG|CRITICAL|SUCCESS|TRACE) +\| ", _level),
    ("word", "compose", r"([\w.-]{1,80}) +\| ", _carried),
    (
        "word",
        "host",
        rf"{_NO_HOST}(?=[\w.-]*\d)((?:\d{{1,3}}\.){{3}}\d{{1,3}}|[A-Za-z][\w.-]{{0,80}}): ",
        _host,
    ),
    (
        "word",
        "syslog",
        rf"(\w{{3}}) +(\d{{1,2}}) {CLOCK} ([\w.-]+) ([\w.-]+)(?:\[(\d{{1,10}})\])?: ",
        _syslog,
    ),
    (
        "SMTWF",
        "time",
        rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\w{{3}}) +(\d{{1,2}}) {CLOCK} (\d{{4}})"
        r"(?:: | - |<std(?:out|err)>: ?|(?=\[[\w@.,:-]{1,200}\]))",
        _of_weekday,
    ),
    ("^", "terminal", r"\^C", _nothing),
    ("k", "kernel", r"kernel: ", _kernel_level),
    ("ukdaLs<", "kernel", r"(?:<\d{1,3}>|(?:kern|user|daemon) *:\w+ *: )", _kernel_level),
)
