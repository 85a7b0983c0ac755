"""Whose processes are, and how many ranks there are, as launchers, programs and people write it beside their output.

`world_rank=3, pid=20311`, `# env of 28812: OMPI_COMM_WORLD_RANK=5`, `pid 4711 RANK=2`, `process_index=5 pid=88427`. A
line that tells two processes or two ranks tells nothing of either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.listed_processes import pairs_in
from rankandfile.evidence.text.logs.event import clean
from rankandfile.evidence.text.stacks.titles import rank_in
from rankandfile.evidence.text.told import Told, ToldPod, ToldProcess
from rankandfile.evidence.text.told_programs import programs_in

#: A line may begin with anything; what it tells stands near its beginning.
_LONGEST = 2000
_MOST = 100_000

_RANK = re.compile(
    r"(?:\b(?P<of>[A-Za-z]+)[ -])?(?<![\w-])"
    r"(?:(?:(?:OMPI_COMM_WORLD|MV2_COMM_WORLD|PMIX?|WORLD|GLOBAL)_)?RANK|SLURM_PROCID|(?:world_|global_)?rank|Rank|process_index)"
    r"(?P<how>\s*[=:#]\s*|\s+)(?P<rank>\d{1,6})\b(?!/)"
)
#: A rank on one axis, or somebody else's.
_OF_OTHERS = frozenset(
    ("local", "node", "group", "tp", "pp", "dp", "ep", "cp", "remote", "peer", "from", "to", "of")
)
_PID = re.compile(
    r"(?<![\w-])(?<!parent )(?i:pid)\s*[=:#]?\s*(\d{2,10})\b|^\W*Process (\d{2,10})\b|/proc/(\d{2,10})/"
    r"|\benv(?:iron(?:ment)?)? of (?:process )?(\d{2,10})\b"
)
_OF_A_PID = re.compile(r"[pP][iI][dD]|Process |/proc/|\benv")
_OF_RANKS = re.compile(r"(?i)\branks?\b")
#: A launcher names the process that it started, and its place on the machine.
_SPAWNED = re.compile(
    r"\bprocess (\d{2,10}) spawned with command: .{0,1500}?--local[-_]rank[=, '\"]{1,4}(\d{1,4})\b"
)
#: `rank 3/8`: who says of how many it is one speaks of itself.
_ONE_OF = re.compile(
    r"\b[Rr]ank[ =:]{0,2}(\d{1,6})(?:/| of | in world size )(\d{1,6})\b(?!\s*(?:failed|died|is|was|has|did))"
)
#: `ps eww` and its like: the process first, or behind its user; its environment behind its command.
_LISTED = re.compile(
    r"^\s*(?:[a-z_][\w.-]{0,31}\+?\s+)?(\d{2,10})\s(?=.*\s(?:[A-Z0-9]+_)*(?:RANK|PROCID)=\d)"
)
_TITLE = re.compile(r"\((\w{1,80}) pid=(\d{2,10})[,)]")
#: `ps` and `docker top`, which show the title that a server of models gives its worker.
_WORKER = re.compile(r"^\s*(?:[a-z_][\w.-]{0,31}\+?\s+)?(\d{2,10})\s.*?((?:VLLM|sglang|ray)::\S{1,200})")
_HOST = re.compile(r"(?<![\w-])(?:host(?:name)?|node|ip)\s*[=:]\s*([\w.-]{1,200})")
#: What a process says of another one, or of its end, tells nothing of itself.
_NOT_ITS_OWN = re.compile(
    r"(?i)\b(?:died|dead|exit\w*|kill\w*|child\w*|parent|server|fork\w*|signal\w*|terminat\w*|subprocess|loader|spawn\w*|workers?)\b"
)
_SIZE = re.compile(
    r"(?<![\w-])(?:(?:WORLD_SIZE|OMPI_COMM_WORLD_SIZE|world_size|SLURM_NTASKS|process_count|num_processes)\s*[=:]\s*"
    r"|\bdist_world_size=|worker group of size |mpi(?:run|exec) (?:.{0,200}? )?-np? "
    r"|\bprocess \d{1,6} of |process_count\(\)\s*=\s*|\brank \d{1,6}/|\brankSize\[)(\d{1,6})\b"
)


_ENVIRON = re.compile(r"/proc/(\d{2,10})/environ\b")
#: The same of each process of a list: `for p in 41 42; do tr '\0' '\n' < /proc/$p/environ | grep RANK; done`.
_ENVIRONS = re.compile(r"\bfor \w{1,20} in ((?:\d{2,10} ?)+);.{0,80}/proc/\S{1,20}/environ\b")
_VARIABLE = re.compile(
    r"^\s*(?:(?P<name>(?:(?:OMPI_COMM_WORLD|MV2_COMM_WORLD|PMIX?|WORLD|GLOBAL)_)?RANK|SLURM_PROCID)=(?P<rank>\d{1,6})|[A-Za-z_]\w{0,80}=.*)?$"
)
#: A program that begins its lines with the number of its process.
_BRACKETED = re.compile(r"^\[(\d{2,10})\] ")
#: DeepSpeed's launcher prints the devices of each machine: one rank for each.
_WORLD = re.compile(r"WORLD INFO DICT: (\{.{1,4000}\})|global_rank_mapping=.{0,40}?(\{.{1,4000}\})")

#: What a process says of itself where it begins: `RANK=3`, `rank 3/8`, `process 3 of 8`, `process_index()=3`.
_OWN = re.compile(
    r"\bRANK=(\d{1,6})\b|(?:^|[\s\[(:|])(?:global_)?[Rr]ank[ =:#]{0,2}(\d{1,6})(?![\w.%])"
    r"|\bprocess (\d{1,6}) of \d|\bprocess_(?:index|id)(?:\(\))?\s*[=:]\s*(\d{1,6})\b"
)
#: The same in words in which nobody speaks of another.
_OWN_ALONE = re.compile(
    r"\bRANK=(\d{1,6})\b|\bprocess (\d{1,6}) of \d|\bprocess_(?:index|id)(?:\(\))?\s*[=:]\s*(\d{1,6})\b"
    r"|^\W{0,3}(?:[Gg]lobal )?[Rr]ank[ =:]{0,2}(\d{1,6})(?:/| of )\d{1,6}\b(?!\s*(?:failed|died|is|was|has|did))"
)
_BEGINNING = 160
#: What a text has, in small letters, of which some line tells such.
_OF_PROCESSES = re.compile(
    r"pid|process |/proc/| of |rank=|procid=|\branks?\b|(?:vllm|sglang|ray)::|^\(", re.MULTILINE
)
#: The same of `_OWN` and `_OWN_ALONE`.
_OF_ITSELF = re.compile(r"rank[ =:#]{0,2}\d|process[ _]")
#: The same of `_SIZE` and `_WORLD`: words are looked for far sooner than a pattern of them.
_OF_SIZES = (
    "world", "ntasks", "process_count", "processes", "process ", "worker group of size", "mpi", "ranksize[",
    "global_rank_mapping",
)  # fmt: skip
_OF_A_PLACE = re.compile(r"rank \d{1,6}/")
#: The same of `_OWN_ALONE`, in a line as it was written.
_OF_ITS_OWN = ("RANK=", "process", "/", " of ")


def _has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)


class Listener:
    """Hears the lines of one file."""

    def __init__(self) -> None:
        self._processes: dict[ToldProcess, None] = {}
        self._sizes: set[int] = set()
        self._programs: set[str] = set()
        self._pods: dict[str, set[int]] = {}
        self._own: set[int] = set()
        self._environments: list[int] = []
        """The processes whose environments are being printed, one variable a line."""
        self._variables: dict[str, list[int]] = {}
        self._on: str | None = None
        """Their host."""

    def hear(self, lines: Sequence[BareLine]) -> None:
        bodies = [bare.body[:_LONGEST] for bare in lines]
        # Most files say nothing of the kind, and one look at all of it is quick.
        written = "\n".join(bodies).lower()
        if _OF_PROCESSES.search(written) or any(bare.line[:1] == "(" for bare in lines):
            for bare, body in zip(lines, bodies, strict=True):
                for found in processes_in(bare, body) if _may_tell(bare, body) else ():
                    if len(self._processes) < _MOST:
                        self._processes.setdefault(found)
        if self._environments or "environ" in written:
            for bare, body in zip(lines, bodies, strict=True):
                self._environment(bare, body)
        for bare, body in zip(lines, bodies, strict=True) if _OF_ITSELF.search(written) else ():
            beginning = body[:_BEGINNING]
            if not bare.carrier and _has(beginning, _OF_ITS_OWN) and (own := _OWN_ALONE.search(beginning)):
                self._own.add(int(next(filter(None, own.groups()))))
            if bare.carrier and (own := _OWN.search(beginning)) is not None:
                name = clean(bare.carrier.strip(":"), 200)
                self._pods.setdefault(name, set()).add(int(next(filter(None, own.groups()))))
        if _has(written, _OF_SIZES) or _OF_A_PLACE.search(written):
            self._sizes.update(int(size) for body in bodies for size in _SIZE.findall(body))
            self._sizes.update(size for body in bodies if (size := _listed_devices(body)))
        self._programs.update(programs_in(written, bodies))

    def _environment(self, bare: BareLine, body: str) -> None:
        """`cat /proc/4711/environ | …`, and its answer in the lines below."""
        asked = [int(pid) for match in _ENVIRONS.findall(body) for pid in match.split()]
        if asked := asked or [int(pid) for pid in _ENVIRON.findall(body)]:
            self._answered()
            self._environments, self._on = asked, bare.host
        elif (match := _VARIABLE.match(body)) is None:
            self._answered()
        elif match["name"] and self._environments:
            self._variables.setdefault(match["name"], []).append(int(match["rank"]))

    def _answered(self) -> None:
        """Each process has answered once: what is told of fewer, nobody knows of which."""
        for ranks in self._variables.values():
            if len(ranks) == len(self._environments):
                for pid, rank in zip(self._environments, ranks, strict=True):
                    self._processes.setdefault(ToldProcess(pid, rank, self._on))
        self._environments, self._variables = [], {}

    def told(self) -> Told:
        self._answered()
        size = self._sizes.pop() if len(self._sizes) == 1 else None
        pods = tuple(
            ToldPod(name, ranks.copy().pop()) for name, ranks in self._pods.items() if len(ranks) == 1
        )
        own = self._own.copy().pop() if len(self._own) == 1 else None
        return Told(tuple(self._processes), size or None, tuple(sorted(self._programs)), pods, own)


def _may_tell(bare: BareLine, body: str) -> bool:
    return bare.pid is not None or bare.line[:1] == "(" or _OF_PROCESSES.search(body.lower()) is not None


def _listed_devices(body: str) -> int:
    if not (match := _WORLD.search(body)):
        return 0
    lists = re.findall(r"\[([\d, ]*)\]", match[1] or match[2])
    return sum(len(one.split(",")) for one in lists if one.strip())


def processes_in(bare: BareLine, body: str) -> tuple[ToldProcess, ...]:
    """The processes that a line tells of: several only where it lists whole ranks with a process each."""
    if _OF_RANKS.search(body) and (listed := _listed(bare, body)):
        return listed
    if "spawned" in body and (match := _SPAWNED.search(body)):
        return (ToldProcess(int(match[1]), None, bare.host, int(match[2])),)
    one = process_in(bare, body)
    return () if one is None else (one,)


def _listed(bare: BareLine, body: str) -> tuple[ToldProcess, ...]:
    pairs = pairs_in(body)
    ranks, pids = {rank for _, rank in pairs}, {pid for pid, _ in pairs}
    row = len(pairs) > 1 and len(ranks) == len(pids) == len(pairs) == max(ranks) - min(ranks) + 1
    return tuple(ToldProcess(pid, rank, bare.host) for pid, rank in pairs) if row else ()


def process_in(bare: BareLine, body: str) -> ToldProcess | None:
    """The one process that a line tells of, with its rank; None where it tells of none, or of several."""
    if bare.line[:1] == "(" and (title := _TITLE.match(bare.line)):
        rank = rank_in(f"VLLM::{title[1]}")
        if rank is not None:
            return ToldProcess(int(title[2]), rank, bare.host)
    if "::" in body and (worker := _WORKER.match(body)) and (rank := rank_in(worker[2])) is not None:
        return ToldProcess(int(worker[1]), rank, bare.host)
    if (bracketed := _BRACKETED.match(bare.line)) and (one := _ONE_OF.search(body)):
        return ToldProcess(int(bracketed[1]), int(one[1]), bare.host)
    numbered = _OF_A_PID.search(body)
    pids = {int(next(filter(None, groups))) for groups in _PID.findall(body)} if numbered else set[int]()
    if not pids and ("RANK=" in body or "PROCID=" in body) and (listed := _LISTED.match(body)):
        pids = {int(listed[1])}
    if not pids and (bare.pid is None or "ray" not in bare.layers):
        return None
    ranks = {int(m["rank"]) for m in _RANK.finditer(body) if (m["of"] or "").lower() not in _OF_OTHERS}
    if len(ranks) > 1 or len(pids) > 1:
        return None
    host = match[1] if (match := _HOST.search(body)) else bare.host
    if (
        not pids
        and not ranks
        and bare.rank is not None
        and bare.rank_from == "prefix"
        and bare.pid is not None
    ):
        # Behind Ray's prefix of the process stands torch's of the rank.
        return ToldProcess(bare.pid, bare.rank, bare.host)
    if pids and ranks:
        return ToldProcess(pids.pop(), ranks.pop(), host)
    if ranks and bare.pid is not None and "ray" in bare.layers and re.search(r"\brank=\d", body):
        return ToldProcess(bare.pid, ranks.pop(), bare.host)
    if not ranks and bare.pid is not None and "ray" in bare.layers and (one := _ONE_OF.search(body)):
        return ToldProcess(bare.pid, int(one[1]), bare.host)
    if pids and not _NOT_ITS_OWN.search(body):
        own = bare.rank if bare.rank is not None else bare.task
        return ToldProcess(pids.pop(), own, host)
    return None
