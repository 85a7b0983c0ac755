"""A file as settings, whatever it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import msgspec

from rankandfile.evidence.files.blobs import shown
from rankandfile.model.ledger import Note
from rankandfile.model.settings import Place, Settings

from . import torch_release
from .distributed import is_distributed
from .environment import read_dump
from .manifest import read_manifest
from .pins import NAMES, release_in
from .plain import MOST_BYTES, plain
from .python_code import read_python
from .shell import read_script
from .tree import NoTree, documents


class Kind(Enum):
    SCRIPT = "script"
    ENVIRONMENT = "environment"
    MANIFEST = "manifest"
    PYTHON = "python"
    PIN = "pin"


_SUFFIXES = {
    **dict.fromkeys((".sh", ".bash", ".sbatch", ".slurm", ".job"), Kind.SCRIPT),
    **dict.fromkeys((".yaml", ".yml", ".json"), Kind.MANIFEST),
    **dict.fromkeys((".py", ".pyw"), Kind.PYTHON),
    ".env": Kind.ENVIRONMENT,
}
#: What is written for people or programs, and starts nothing.
_STARTS_NOTHING = (
    ".md",
    ".rst",
    ".txt",
    ".log",
    ".out",
    ".toml",
    ".cfg",
    ".ini",
    ".csv",
    ".html",
    ".ipynb",
    ".xml",
)
_SHEBANG = re.compile(r"#!.*\b(python|\w*sh)")
_MANIFEST = re.compile(r"^(apiVersion|kind|metadata|spec)\s*:", re.MULTILINE)
_PAIR = re.compile(r"[A-Za-z_]\w*=")
_LOOKED_AT = 64 << 10
_NONE_OF_THEM = "not a launch script, an environment, a manifest or a Python program"


def kind_of(name: str, text: str) -> Kind:
    """What a file is: by its name where that tells, else by its text."""
    head = text[:_LOOKED_AT]
    if "\0" in head:
        # As /proc/PID/environ has it, and no image, archive or dump.
        entries = [entry for entry in head.split("\0") if entry]
        if not entries or 2 * sum(map(bool, map(_PAIR.match, entries))) < len(entries):
            raise Unreadable(f"{name}: {_NONE_OF_THEM}")
        return Kind.ENVIRONMENT
    shebang = _SHEBANG.match(head)
    if shebang:
        return Kind.PYTHON if shebang[1] == "python" else Kind.SCRIPT
    suffix = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if NAMES.fullmatch(name.rpartition("/")[2]):
        return Kind.PIN
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if head.lstrip().startswith("{") or _MANIFEST.search(head):
        return Kind.MANIFEST
    lines = [line for line in head.split("\n") if line.strip() and not line.startswith("#")]
    pairs = sum(1 for line in lines if _PAIR.match(line))
    if lines and _PAIR.match(lines[0]) and pairs * 3 >= len(lines) * 2:
        return Kind.ENVIRONMENT
    if suffix in _STARTS_NOTHING:
        raise Unreadable(f"{name}: {_NONE_OF_THEM}")
    return Kind.SCRIPT


def read_bytes(data: bytes, name: str, path: Path | None = None) -> list[Settings]:
    """The settings in a file: one for each kind of process it starts; none, where it starts none and says why.
    `path`: where it lies."""
    name = shown(name)
    text = plain(data)
    kind = kind_of(name, text)
    if kind is Kind.PIN:
        found = [_pin(text, name)]
    elif kind is Kind.PYTHON:
        found = [read_python(text, name)]
        if not is_distributed(text, path):
            raise NoProgram(name, found)
    elif kind is Kind.ENVIRONMENT:
        found = [read_dump(text, name)]
    elif kind is Kind.MANIFEST:
        found = _manifest(text, name)
    else:
        found = [read_script(text.replace("\0", "?"), name)]
    if len(data) > MOST_BYTES:
        note = Note(file=name, where="", what=f"only the first {MOST_BYTES >> 20} MiB were read")
        found = [msgspec.structs.replace(one, notes=(*one.notes, note)) for one in found]
    return found


def _pin(text: str, name: str) -> Settings:
    """It tells the release, and nothing that a process is started with."""
    release = release_in(text, name.rpartition("/")[2])
    if release is None:
        raise NoRelease(Note(file=name, where="", what="no release of torch is pinned in it"))
    return Settings(place=Place(file=name), torch=release[0], torch_from=release[1])


def _manifest(text: str, name: str) -> list[Settings]:
    try:
        found = read_manifest(documents(text), name)
    except NoTree as error:
        raise Unreadable(f"{name}: {error}") from error
    if not found:
        raise Unreadable(f"{name}: no container in it: a Pod, Job, Deployment or PyTorchJob has some")
    return found


class Unreadable(Exception):
    """Nothing to examine; the text says why."""


class NoProgram(Unreadable):
    """Of a Python file that by itself is of no job; beside a launch script it may be what that starts."""

    def __init__(self, name: str, found: list[Settings]) -> None:
        super().__init__(
            f"{name}: not a program of a distributed job: it names neither torch nor what is built on it"
        )
        self.found = found


class NoRelease(Unreadable):
    """Of a file that could only tell the release of torch, and does not: the others of the job are none the worse."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note


def read_file(path: Path) -> list[Settings]:
    """The settings in a file; `Unreadable` where there are none to be had."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"{shown(str(path))}: {error.strerror or error}") from error
    return read_bytes(data, str(path), path)


def joined(parts: Sequence[Settings]) -> list[Settings]:
    """Settings of several files that start one job: a script, its environment file, its Python program.

    The containers of a manifest stay apart, each with what the other files say.
    """
    containers = [part for part in parts if part.launcher == "kubernetes" and not part.environment_only]
    others = [part for part in parts if part not in containers]
    if not others:
        return containers
    return [_one([*others, container]) for container in containers] or [_one(others)]


_LISTS = ("settings", "commands", "volumes", "spans", "teardowns", "prefixes", "notes")


def _one(parts: Sequence[Settings]) -> Settings:
    first = parts[-1]
    told = [(part.torch, part.torch_from) for part in parts if part.torch_from]
    release = next((one for one in told if one[0]), told[0] if told else (None, ""))
    launchers = [part.launcher for part in parts if part.launcher != "shell"]
    return Settings(
        place=parts[0].place if len(parts) == 1 else first.place if first.scope else parts[0].place,
        scope=first.scope,
        launcher=launchers[-1] if launchers else "shell",
        environment_only=all(part.environment_only for part in parts),
        torch=release[0],
        torch_from=release[1],
        **{name: tuple(one for part in parts for one in getattr(part, name)) for name in _LISTS},
    )


def with_this_machine(settings: Settings, torch: str | None = None) -> Settings:
    """What only this machine can add: existing folders among the values, and the torch, where nobody told it."""
    folders = tuple(one.value for one in settings.settings if one.value and _is_folder(one.value))
    settings = msgspec.structs.replace(settings, folders=folders)
    if torch or settings.torch:
        return settings
    found = torch_release.in_prefixes(settings.prefixes)
    # An image has its own torch, and not what lies beside raf.
    if found is None and not settings.torch_from and (found := torch_release.beside_us()) is not None:
        what = f"{found[0]} is installed beside raf, and taken for the job's: --torch, if that is another"
        settings = msgspec.structs.replace(
            settings, notes=(*settings.notes, Note(file="torch", where="", what=what))
        )
    return msgspec.structs.replace(settings, torch=found[0], torch_from=found[1]) if found else settings


def _is_folder(value: str) -> bool:
    if not value.startswith("/") or "$" in value:
        return False
    try:
        return Path(value).is_dir()
    except (OSError, ValueError):
        return False
