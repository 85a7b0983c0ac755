"""Runs the `raf` commands that the pages show, and puts what they print into the pages.

A ```` ```console ```` block holds commands after `$ ` and what they print; a ```` ```sh ```` block holds commands only.
A block with `title="NAME"` is a file: the commands find it in the folder in which they run, beside an incident of
the lab. A command that cannot run there stands in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
EXAMPLE = ROOT / "examples" / "early-stop"

_MINUTES = "real processes hang for real: seconds to minutes"
_ELSEWHERE = "needs a cluster, a job or a terminal that is not here"
_CHANGES = "changes the source that the other commands read"
#: How commands begin that no test runs; a test does check that their options are ones that `raf` has.
NOT_RUN = {
    "raf lint . --diff": "needs a repository with that revision",
    "raf lab run early_stop_local": _MINUTES,
    "raf lab run two-rank-hang": _MINUTES,
    "raf lab prove": _MINUTES,
    "raf lab export": _MINUTES,
    "raf lab watch": _MINUTES,
    "raf lab blind": _MINUTES,
    "raf lab score": _MINUTES,
    "raf lab ablate": _MINUTES,
    "raf lab answers": _MINUTES,
    "raf run": _ELSEWHERE,
    "raf control run": _ELSEWHERE,
    "raf control worker": _ELSEWHERE,
    "raf attach --debug-server": _ELSEWHERE,
    "raf collect --slurm": _ELSEWHERE,
    "raf collect --kubernetes": _ELSEWHERE,
    "raf collect --ssh": _ELSEWHERE,
    "raf collect --hosts": _ELSEWHERE,
    "raf top": _ELSEWHERE,
    "raf watch": _ELSEWHERE,
    "raf tower": "serves until it is told to end",
    "raf diagnose /dev/shm": _ELSEWHERE,
    "raf diagnose s3://": _ELSEWHERE,
    "raf condense s3://": _ELSEWHERE,
    "raf show calls s3://": _ELSEWHERE,
    "raf diagnose dumps/ --engine": _ELSEWHERE,
    "raf show ring /dev/shm": _ELSEWHERE,
    "kubectl": _ELSEWHERE,
    "raf mcp": "serves until its client goes",
    "raf investigate incident/ --src . -o post-mortem/ --model": "asks a model",
    "raf investigate incident/ --src . --model": "needs the extra agent, and shows addresses of the machine",
    "raf investigate incident/ --src train/ --prove": _MINUTES,
    "raf skill install": "writes into the home directory",
    "raf fix incident/ --src . | git apply": _CHANGES,
    "raf lint train/ --show-fixes | git apply": _CHANGES,
}

#: What the reader has to fill in, so that nothing can be run.
_PLACEHOLDER = re.compile(r"\b(?:PID|NAME|POD)\b")

#: One command is stopped after this.
_LIMIT_S = 90

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<kind>\w+)(?P<more>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass
class Ran:
    status: int
    output: str


@dataclass
class Shown:
    """A command of a page, and the lines below it."""

    command: str
    output: list[str] = field(default_factory=list)


def consoles(text: str) -> Iterator[Shown]:
    """All commands of a page's blocks that begin with `raf`."""
    for fence in _FENCE.finditer(text):
        body = fence["body"].splitlines()
        if fence["kind"] == "console":
            yield from (shown for shown in _parts(body) if _is_raf(shown.command))
        elif fence["kind"] == "sh" and not _TITLE.search(fence["more"]):
            yield from (
                shown for shown in _parts([f"$ {line}" for line in _whole(body)]) if _is_raf(shown.command)
            )


def files(text: str) -> dict[str, str]:
    """The files that a page shows in full, by name."""
    titled = ((fence, _TITLE.search(fence["more"])) for fence in _FENCE.finditer(text))
    return {title[1]: fence["body"] for fence, title in titled if title}


def is_run(command: str) -> bool:
    return not command.startswith(tuple(NOT_RUN)) and not _PLACEHOLDER.search(command)


def told(text: str, ran: dict[str, Ran]) -> str:
    """The page with what its commands print now."""

    def block(fence: re.Match[str]) -> str:
        if fence["kind"] != "console":
            return fence[0]
        lines: list[str] = []
        for shown in _parts(fence["body"].splitlines()):
            output = ran[shown.command].output.splitlines() if shown.command in ran else shown.output
            lines += [f"$ {shown.command}", *output]
        return f"```console{fence['more']}\n" + "".join(f"{line}\n" for line in lines) + "```"

    return _FENCE.sub(block, text)


def _parts(body: list[str]) -> Iterator[Shown]:
    current: Shown | None = None
    for line in _whole(body):
        if line.startswith("$ "):
            if current is not None:
                yield current
            current = Shown(_bare(line[2:]))
        elif current is not None:
            current.output.append(line)
    if current is not None:
        yield current


def _whole(body: list[str]) -> Iterator[str]:
    """Lines, but a command whose quotes are still open goes on in the next."""
    held = ""
    for line in body:
        held = f"{held}\n{line}" if held else line
        if held.startswith(("$ ", "raf ")) and held.count("'") % 2:
            continue
        yield held
        held = ""
    if held:
        yield held


def _bare(line: str) -> str:
    return re.sub(r"\s+# .*$", "", line.strip())


def _is_raf(command: str) -> bool:
    return bool(re.match(r"raf\b|.*(\||\$\()\s*raf\b", command))


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def desk(folder: Path) -> None:
    """What the commands of the pages find where they run."""
    shutil.copytree(EXAMPLE, folder / "incident" / "early_stop_local")
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(EXAMPLE / "evidence" / "dumps", folder / "dumps")
    shutil.copytree(EXAMPLE / "evidence" / "dumps", folder / "hangs" / "812345")
    shutil.copytree(EXAMPLE / "evidence" / "logs", folder / "logs")
    shutil.copytree(EXAMPLE / "src", folder / "train")
    whole = b"".join(log.read_bytes() for log in sorted((EXAMPLE / "evidence" / "logs").iterdir()))
    (folder / "train-812345.out").write_bytes(whole)
    for page in pages():
        for name, content in files(page.read_text(encoding="utf-8")).items():
            (folder / name).write_text(content, encoding="utf-8")


def run(commands: Iterable[str]) -> dict[str, Ran]:
    """Each command once, in the order given, all in one folder that is then thrown away."""
    wanted = list(dict.fromkeys(commands))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("TORCH_", "NCCL_"))},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    with tempfile.TemporaryDirectory() as folder:
        desk(Path(folder))
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve())], cwd=folder, env=environment,
            input=json.dumps(wanted), stdout=subprocess.PIPE, encoding="utf-8", check=True,
        )  # fmt: skip
    ran = json.loads(done.stdout)
    return {command: Ran(status, output) for command, (status, output) in zip(wanted, ran, strict=True)}


def _here(command: str) -> tuple[int, str]:
    """In this process where no shell is needed: starting Python is most of what a command costs."""
    if re.search(r"[|<>$&;]", command):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, encoding="utf-8", check=False, timeout=_LIMIT_S,
        )  # fmt: skip
        return done.returncode, _tidy(done.stdout)
    from rankandfile.cli.main import main

    kept: tuple[TextIO, TextIO] = sys.stdout, sys.stderr
    both = io.BytesIO()
    stream = io.TextIOWrapper(both, encoding="utf-8", write_through=True)
    sys.stdout = sys.stderr = stream
    sys.argv = shlex.split(command)
    status = 0
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_LIMIT_S)
    try:
        main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        signal.alarm(0)
        sys.stdout, sys.stderr = kept
    stream.flush()
    return status, _tidy(both.getvalue().decode())


def _too_long(*_: object) -> None:
    raise TimeoutError(f"a command of the pages took more than {_LIMIT_S} s")


def _tidy(output: str) -> str:
    lines = output.replace(str(Path.cwd()), "/home/you").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.stdout.write(json.dumps([_here(command) for command in asked]))
