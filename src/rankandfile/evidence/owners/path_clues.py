"""What one path says by itself about the rank and the host of a file; nothing here looks at the files beside it."""

from __future__ import annotations

import re
import tempfile
from functools import lru_cache
from typing import NamedTuple

from rankandfile.evidence.files.prose import SUFFIXES

RANKS = 1 << 20
"""More than any job has: a larger number is not a rank."""

_SUFFIXES = re.compile(
    r"(\.(json|pkl|pickle|txt|log|gz|bz2|xz|zst|zip|tar|tgz|tbz2?|txz|tzst|case|pipe|bin|out|err|bak|old|tmp|html))+$",
    re.IGNORECASE,
)
_COPY = re.compile(r"#[0-9]+$")

#: Numbers that are no ranks wherever they stand: UUIDs, hashes, dates, times, addresses, long ids.
_NOISE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?<![0-9a-z])(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{6,}(?![0-9a-z])"
    r"|(?<![0-9])20[0-9]{6}(?:[t_.-]?[0-9]{6}(?:[._-][0-9]{3,9})?|[t_-][0-9]{4})?z?(?![0-9])"
    r"|(?<![0-9])20[0-9]{2}[-_.][0-9]{2}[-_.][0-9]{2}(?:[t_ -]+[0-9]{2}[-:._][0-9]{2}(?:[-:._][0-9]{2})?)?(?![0-9])"
    r"|(?<![0-9])[0-9]{2}[-:][0-9]{2}[-:][0-9]{2}(?![0-9])"
    r"|(?<![0-9])[0-9]{1,3}(?P<dot>[.-])[0-9]{1,3}(?P=dot)[0-9]{1,3}(?P=dot)[0-9]{1,3}(?![0-9])"
    r"|[0-9]{8,}"
)

_RANK = re.compile(r"(?P<glued>[a-z]*)rank(?:_?id)?[_.= :-]{0,2}(?P<number>[0-9]+)(?![0-9a-z])")
_WORD_BEFORE = re.compile(r"([a-z]+)[_. -]*$")
_GLOBAL = {"global", "world"}
#: "tp_rank_3" and the like count inside a group or a machine, not in the job.
_INNER = {"local", "node", "group", "role", "machine", "host", "agent", "intra", "inter", "pod"}
_INNER |= {"stage", "worker", "tp", "dp", "pp", "cp", "ep", "sp", "mp", "etp", "edp", "fsdp", "hsdp"}
_INNER |= {"ddp", "data", "tensor", "pipeline"}
_INNER |= {"model", "expert", "context", "sequence", "replica", "sub"}

_INNER_RANK = re.compile(rf"(?:{'|'.join(sorted(_INNER))})[_. -]*rank(?:_?id)?[_.= :-]{{0,2}}[0-9]+")

_PREFIXED = re.compile(r"rank_(?P<host>[a-z][a-z0-9_.-]*?)_(?P<number>[0-9]+)$")

#: Words whose number is surely not a rank.
_OTHER = {
    "pid",
    "tid",
    "job",
    "jobid",
    "jid",
    "attempt",
    "restart",
    "step",
    "iter",
    "iteration",
    "epoch",
    "seed",
}
_OTHER |= {
    "port",
    "size",
    "world",
    "of",
    "part",
    "shard",
    "version",
    "v",
    "gen",
    "generation",
    "try",
    "retry",
    "trial",
}
_OTHER |= {
    "node",
    "host",
    "worker",
    "machine",
    "pod",
    "gpu",
    "cuda",
    "device",
    "local",
    "ip",
    "server",
    "master",
    "vm",
}
_OTHER |= {"tp", "dp", "pp", "cp", "ep", "sp", "mp", "ws", "n", "t", "ts", "time", "date", "round", "task"}
#: Answers of NCCL's RAS are about the whole job: a number behind it says which of several.
_OTHER |= {"ras", "ncclras"}
#: Words whose number usually is one.
_RANKISH = {"rank", "trace", "dump", "fr", "r", "recorder", "nccl", "debug", "info", "process", "proc"}

#: A machine's number, or a letter or two: `node07`, `host-a`. Any other word behind it makes a title of it, such as
#: `host_unplugged`, a folder named for what went wrong.
_HOST = re.compile(
    r"^(?:[a-z0-9._-]*[._-])?(?:node|host|worker|machine|server|compute|dgx|hgx|nid|cn|pod|vm|container|master|launcher"
    r"|leader|slave|sled|blade|gpu|c|ip)(?:[._-]?(?:rank[._-]?)?[0-9][a-z0-9._-]*|[.-][a-z]{1,2}"
    r"|(?:[.-][a-z0-9-]+){0,8}(?:\.[a-z0-9-]+){2,})$"
)
_ADDRESS = re.compile(r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$|^[a-z0-9-]+(\.[a-z0-9-]+){2,}$")
_NO_HOST = re.compile(
    r"rank|attempt|restart|retry|trial|\brun|^run|^job|step|iter|epoch|dump|trace|log|gen[0-9]|^v?[0-9]+$|~"
)


#: What a machine says of itself: the file is named after what printed it, and after the machine.
_OF_MACHINES = re.compile(
    r"^(?:dmesg|journalctl|journal|syslog|kern|kernel|messages|nvidia-smi|rocm-smi|ibstat|ib|ibstatus|lspci|ethtool|mce|ipmi|sel)"
    r"(?:-[a-z]{1,2})?$"
)
_SUFFIX = re.compile(r"\.(?:txt|log|out|err|gz|zst|xz)$")


class Number(NamedTuple):
    """A number in a file's name that may be its rank."""

    digits: str
    word: str
    """The word before it; empty at the beginning of the name, "?" behind another number."""
    glued: bool
    """Nothing stands between the word and the number."""

    @property
    def rankish(self) -> bool:
        """The word before it goes with ranks, or the name begins with the number."""
        return self.word in _RANKISH or not self.word


class Clues(NamedTuple):
    folder: str
    template: str
    """The name with its numbers taken out: files of one family share it."""
    numbers: tuple[Number, ...]
    told: frozenset[int]
    """Ranks that the name states in words."""
    told_by_folder: int | None
    folder_number: int | None
    """The folder's whole name, where it is a number."""
    inner: bool
    """The name or folder speaks of a rank inside a machine or a group."""
    host: str | None


class _Folder(NamedTuple):
    told: int | None
    number: int | None
    inner: bool
    host: str | None


_DIGITS, _SAYS, _NOISES = re.compile(r"[0-9]+"), re.compile(r"[0-9a-z~]"), re.compile(r"~+")
_UP_TO_RANK = re.compile(r"[_.]?(?:[a-z]*[_.-])?rank")


def clues(source: str) -> Clues:
    folder, _, name = source.replace("!/", "/").rpartition("/")
    place = _folder(folder)
    stem = _stem(name)
    lower = stem.lower()
    masked = _mask(lower)
    told, inner = _told(masked)
    host = None
    if not told and (match := _PREFIXED.search(lower)) and not _bare_host_word(match["host"]):
        told = frozenset({int(match["number"][:9])})
        named = stem[match.start("host") : match.end("host")]
        host = named if re.search(r"[0-9.-]", named) else None
    elif told:
        before = _UP_TO_RANK.split(lower, maxsplit=1)[0]
        host = stem[: len(before)] if _looks_like_host(before) else None
    else:
        host = _machine(name)
    template, numbers = _numbers(_INNER_RANK.sub(_tildes, masked))
    if name.lower().endswith(SUFFIXES):
        # Notes are numbered by whoever writes them.
        numbers = tuple(one for one in numbers if one.word in _RANKISH)
    return Clues(
        folder=folder,
        template=template,
        numbers=numbers,
        told=told,
        told_by_folder=place.told,
        folder_number=place.number,
        inner=inner or (place.inner and place.told is None),
        host=host or place.host,
    )


def may_be_host(folder: str) -> bool:
    """Whether a folder's name could be a host's, should the files in it bear that out."""
    lower = _mask(_stem(folder).lower())
    return re.search(r"[0-9.-]", lower) is not None and _NO_HOST.search(lower) is None


@lru_cache(maxsize=4096)
def _folder(path: str) -> _Folder:
    """The same for the folders above it, of which the innermost counts. A job has few folders and many files."""
    steps = [_stem(step) for step in path.split("/") if step not in ("", ".", "..")]
    told, inner, host = None, False, None
    # What stands right under the place for temporary files has a name by chance: `raf-x-c3jsnpit` is no host.
    scratch = f"{tempfile.gettempdir()}/"
    by_chance = scratch.strip("/").count("/") + 1 if path.startswith(scratch) else -1
    for at, step in reversed(list(enumerate(steps))):
        lower = step.lower()
        found, speaks_of_inner = _told(_mask(lower))
        if told is None and len(found) == 1:
            (told,) = found
        inner = inner or speaks_of_inner
        # "gpu3" is a host in one cluster and a device in another: a better name further out wins.
        named = _looks_like_host(lower) and at != by_chance
        if named and (host is None or host.lower().startswith("gpu")):
            host = step
    last = steps[-1] if steps else ""
    under_attempt = len(steps) > 1 and steps[-2].lower().startswith("attempt")
    number = int(last) if last.isascii() and last.isdigit() and len(last) < 7 else None
    # torchrun keeps its logs under attempt_N/<local rank>.
    return _Folder(
        told, None if under_attempt else number, inner or (under_attempt and number is not None), host
    )


def _stem(name: str) -> str:
    return _SUFFIXES.sub("", _COPY.sub("", name[-512:]))


def _mask(lower: str) -> str:
    return _NOISE.sub(_tildes, lower)


def _tildes(match: re.Match[str]) -> str:
    return "~" * len(match[0])


def _told(masked: str) -> tuple[frozenset[int], bool]:
    """Ranks that are called so, and whether an inner rank is."""
    found: list[tuple[int, bool]] = []
    inner = False
    for match in _RANK.finditer(masked):
        glued = match["glued"]
        before = _WORD_BEFORE.search(masked[: match.start()])
        word = glued or (before[1] if before else "")
        if word in _INNER:
            inner = True
        elif not glued or glued in _GLOBAL:
            found.append((int(match["number"]), word in _GLOBAL))
    best = [number for number, is_global in found if is_global] or [number for number, _ in found]
    return frozenset(best), inner


def _numbers(masked: str) -> tuple[str, tuple[Number, ...]]:
    template: list[str] = []
    numbers: list[Number] = []
    at = 0
    for match in _DIGITS.finditer(masked):
        before = masked[: match.start()]
        found = _WORD_BEFORE.search(before)
        word = found[1] if found else "?" if _SAYS.search(before) else ""
        number = Number(match[0], word, before[-1:].isalpha())
        fits = number.word not in _OTHER and not masked[match.end() : match.end() + 1].isalpha()
        template += (masked[at : match.start()], "#" if fits else "@")
        if fits:
            numbers.append(number)
        at = match.end()
    # Dates and ids differ in length and say nothing about the family.
    return _NOISES.sub("~", "".join(template) + masked[at:]), tuple(numbers)


def _machine(name: str) -> str | None:
    """`dmesg_gpu-c07.txt`, `dmesg-T.hgx-34.txt`, `r12n4_ib.txt`: what is left without the program is the machine."""
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    parts = re.split(r"[_.]", name)
    if len(parts) == 1 and (
        match := re.match(r"(?i)(?:dmesg|syslog|journal|kern|messages)-(?=[\w-]*[0-9])", name)
    ):
        parts = ["dmesg", name[match.end() :]]
    left = [part for part in parts if not _OF_MACHINES.match(part.lower())]
    named = len(left) == 1 < len(parts) and re.search(r"(?i)^(?=.*[a-z])(?=.*[0-9])", left[0])
    return left[0] if named and not _NO_HOST.search(left[0].lower()) else None


def _looks_like_host(lower: str) -> bool:
    return (_HOST.match(lower) or _ADDRESS.match(lower)) is not None


def _bare_host_word(lower: str) -> bool:
    return lower.rpartition("_")[2] in _OTHER
