"""What commands that watch a job have in common: their options, and how they speak beside the job's own output."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from rankandfile.capture import in_redis

from .console import err
from .errors import UserError
from .extras import brought_by
from .output import may_be_folder

if TYPE_CHECKING:
    from rankandfile.capture.otel import Events

Stall = Annotated[
    float | None,
    Option(
        "--stall",
        min=0.5,
        metavar="SECONDS",
        help="Look why when nothing has moved for so long. Default: 10 s, or five times the longest pause so far.",
    ),
]


CaseFolder = Annotated[
    Path | None,
    Option(
        "--out",
        "--output",
        "-o",
        callback=may_be_folder,
        metavar="DIR",
        help="Folder for the case. Default: raf-case-TIME, made when needed.",
    ),
]


Certificates = Annotated[
    Path | None,
    Option(
        "--tls",
        metavar="DIR",
        help="A folder with this machine's certificate and key and the authority's certificate: tls.crt, tls.key and "
        "ca.crt. Both sides show theirs. Needed where a port is not on loopback.",
    ),
]

Notify = Annotated[
    str | None,
    Option(
        "--notify",
        metavar="URL|COMMAND",
        help="Tell of a hang, and of ranks that go different ways: a web hook as Slack's, or a command that gets the "
        "same JSON on its standard input.",
    ),
]

TowerUrl = Annotated[
    str | None,
    Option(
        "--tower",
        metavar="URL",
        help="Post every second how far each rank is, and what was found; to redis://HOST for towers that read there.",
    ),
]

Otel = Annotated[
    str | None,
    Option(
        "--otel",
        metavar="URL|env",
        help="Send each finding as an event of OpenTelemetry, over OTLP/HTTP: to this address, or where its variables "
        "say. Needs the extra otel.",
    ),
]


def processes(pids: Sequence[str] | None, command: str) -> list[int]:
    """Raises UserError for what is none."""
    if sys.platform != "linux":
        raise UserError(f"{command} finds processes through Linux's /proc")
    for pid in pids or ():
        if not pid.isdecimal():
            raise UserError(
                f"{pid}: no process id; those of a program: {command} $(pgrep -f {shlex.quote(pid)})"
            )
        if not Path(f"/proc/{pid}").exists():
            raise UserError(f"no process {pid}")
    return [int(pid) for pid in pids or ()]


_WEB = ("http://", "https://")


def check_notify(notify: str | None) -> None:
    """Raises UserError for an address of another kind."""
    if notify is not None and "://" in notify.partition(" ")[0] and not notify.startswith(_WEB):
        raise UserError("--notify: the address of a web hook begins with http:// or https://")


def check_tower(tower: str | None) -> None:
    """The same."""
    if (
        tower is not None
        and not goes_to_redis(tower, "--tower with a Redis needs")
        and not tower.startswith(_WEB)
    ):
        raise UserError(f"--tower {tower}: its address begins with http://, https:// or redis://")


def goes_to_redis(address: str, needs: str) -> bool:
    """Whether it is a Redis'. Its client is missed before the job starts, and not when it hangs: raises UserError."""
    if not address.startswith(in_redis.ADDRESSES):
        return False
    with brought_by("redis", f"{needs} its client", "redis"):
        import redis  # noqa: F401
    return True


def events_to(otel: str | None) -> Events | None:
    """Raises UserError for an address of another kind, and where the extra is not installed."""
    if otel is None:
        return None
    if otel != "env" and not otel.startswith(_WEB):
        raise UserError(f"--otel {otel}: an address that begins with http:// or https://, or env")
    with brought_by("otel", "--otel needs OpenTelemetry", "opentelemetry"):
        from rankandfile.capture.otel import Events
    return Events(otel, say)


class OnPlan(str, Enum):
    off = "off"
    enforce = "enforce"


def say(message: str) -> None:
    err.print(f"raf: {message}", soft_wrap=True)


def show_card(card: str) -> None:
    err.file.write(card)
    err.file.flush()
