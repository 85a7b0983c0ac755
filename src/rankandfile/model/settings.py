"""What a job is started with, and what the doctor says about it.

The keys of `Examination` are frozen: they are what ``raf doctor --format json`` prints.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .document import pretty, schema_of
from .ledger import Note

SCHEMA = "rankandfile.examination/1"

Severity = Literal["harmful", "useless", "missing", "ok"]
"""harmful: makes a hang worse or hides it. useless: set, and does not do what it was set for. missing: the next
hang leaves less than it could. ok: looked at, nothing to mend."""

Diagnosable = Literal["yes", "partly", "no"]

Launcher = Literal["shell", "slurm", "kubernetes"]

SpanKind = Literal["grace", "init_process_group", "new_group", "launcher_timeout"]

Clause = Literal["except", "finally", "atexit"]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One assignment of one environment variable."""

    name: str
    value: str | None
    """As the job gets it, as far as the file tells; variables that only the machine knows stay ``$NAME``.
    None: unset."""
    place: Place
    lost: str = ""
    """Why the job never sees it, if it does not: assigned but not exported, say."""
    unexpanded: str = ""
    """The part of the value that looks as if it were to be expanded, and is not: ``$HOME`` in single quotes."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command that a script or a probe runs, its words joined by single spaces."""

    text: str
    place: Place
    probe: bool = False
    """It decides whether the job counts as healthy."""


class Volume(msgspec.Struct, frozen=True, kw_only=True):
    """Where a container sees what storage."""

    mount: str
    kind: str
    """As the manifest calls it: emptyDir, persistentVolumeClaim, nfs, hostPath ..."""
    place: Place


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A time that a file sets: a grace period, a timeout."""

    what: SpanKind
    seconds: float | None
    """None: not given, or not a number that the file alone tells."""
    place: Place
    detail: str = ""
    """As it stands there: ``--ddp_timeout 18000``."""


class Teardown(msgspec.Struct, frozen=True, kw_only=True):
    """`destroy_process_group` or an abort on the path that a failing rank takes."""

    call: str
    clause: Clause
    place: Place


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What one process of the job is started with: a script, an environment, or one container of a manifest."""

    place: Place
    scope: str = ""
    """Which part of the file, where it starts several kinds of processes: ``Worker/pytorch``."""
    launcher: Launcher = "shell"
    settings: tuple[Setting, ...] = ()
    commands: tuple[Command, ...] = ()
    volumes: tuple[Volume, ...] = ()
    spans: tuple[Span, ...] = ()
    teardowns: tuple[Teardown, ...] = ()
    environment_only: bool = False
    """Values are final: an environment was dumped or is this process's own, nothing more will be expanded."""
    torch: str | None = None
    torch_from: str = ""
    """What tells the release of torch: an image tag, installed metadata. Where none is told: the image that has one."""
    prefixes: tuple[str, ...] = ()
    """Virtual environments that it activates."""
    folders: tuple[str, ...] = ()
    """Paths among the values that are existing directories on this machine."""
    notes: tuple[Note, ...] = ()


Costs = Literal["all", "part", "nothing"]
"""What is lost of the next hang's evidence if it stays as it is. all: no dumps to diagnose from."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    severity: Severity
    check: str
    """A stable name of what was checked: ``recorder``, ``dump-path``."""
    says: str
    fix: str = ""
    variable: str = ""
    place: Place | None = None
    exports: dict[str, str | None] = {}
    """The environment that mends it; None removes the variable."""
    costs: Costs = "part"


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """Is the next hang diagnosable? The findings, worst first, and what could not be known."""

    diagnosable: Diagnosable
    torch: str | None
    torch_from: str
    findings: list[Finding]
    notes: list[Note]
    schema: str = SCHEMA


def to_json(examination: Examination) -> bytes:
    return pretty(examination)


def json_schema() -> dict[str, Any]:
    return schema_of(Examination, "examination", "Rank & File examination of an environment")
