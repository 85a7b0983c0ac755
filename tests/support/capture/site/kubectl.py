"""Stands in for kubectl 1.33: pods are what `$SITE/pods.json` says, a pod's files lie in `$SITE/nodes/POD`.

As the real one it forgets what of a command's output has not come through yet when the command ends, and a command
does not hear that its input has ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

SITE = Path(os.environ["SITE"])


def fail(line: str, status: int = 1) -> NoReturn:
    sys.stderr.write(f"{line}\n")
    sys.exit(status)


def options(words: list[str], valued: set[str], plain: set[str]) -> tuple[list[str], dict[str, str]]:
    names: list[str] = []
    given: dict[str, str] = {}
    left = iter(words)
    for word in left:
        if word in valued:
            given[word] = next(left)
        elif word in plain:
            given[word] = "true"
        elif word.startswith("-"):
            fail(f"error: unknown flag: {word}")
        else:
            names.append(word)
    return names, given


def pods() -> dict[str, dict[str, object]]:
    return {pod["metadata"]["name"]: pod for pod in json.loads((SITE / "pods.json").read_text())["items"]}


def get(words: list[str]) -> None:
    _, given = options(words, {"-n", "-l", "-o"}, set())
    if given.get("-n") == "secret":
        fail(
            'Error from server (Forbidden): pods is forbidden: User "me" cannot list resource "pods" in API group '
            '"" in the namespace "secret"'
        )
    found = [*pods().values()] if given["-l"] == "job-name=train" else []
    sys.stdout.write(json.dumps({"apiVersion": "v1", "items": found, "kind": "List"}))


def logs(words: list[str]) -> None:
    (name,), given = options(
        words, {"-n", "-c"}, {"--timestamps", "--prefix", "--all-containers", "--previous"}
    )
    previous = "--previous" in given
    file = SITE / "logs" / f"{name}{'.previous' if previous else ''}"
    if not file.exists():
        what = f'container "pytorch" in pod "{name}"'
        said = (
            f"previous terminated {what} not found"
            if previous
            else f"{what} is waiting to start: ContainerCreating"
        )
        fail(f"Error from server (BadRequest): {said}")
    for number, line in enumerate(file.read_text().splitlines()):
        prefix = f"[pod/{name}/pytorch] " if "--prefix" in given else ""
        at = f"2026-05-01T10:00:{number:02d}.000000000Z " if "--timestamps" in given else ""
        sys.stdout.write(f"{prefix}{at}{line}\n")


def describe(words: list[str]) -> None:
    (_, name), _ = options(words, {"-n"}, set())
    sys.stdout.write((SITE / "described" / name).read_text())


def execute(words: list[str]) -> None:
    dashes = words.index("--")
    (name,), given = options(words[:dashes], {"-n", "-c"}, {"-i"})
    pod = pods()[name]
    phase = pod["status"]["phase"]  # type: ignore[index]
    if phase in ("Failed", "Succeeded"):
        fail(f"error: cannot exec into a container in a completed pod; current phase is {phase}")
    if given.get("-c", "pytorch") != "pytorch":
        fail(f"Error from server (BadRequest): container {given['-c']} is not valid for pod {name}")
    if "-c" not in given:
        sys.stderr.write('Defaulted container "pytorch" out of: pytorch, sidecar\n')
    command = subprocess.Popen(
        words[dashes + 1 :], cwd=SITE / "nodes" / name, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert command.stdin is not None
    threading.Thread(target=carry, args=(0, command.stdin.fileno(), 0.0), daemon=True).start()
    assert command.stdout is not None
    threading.Thread(target=carry, args=(command.stdout.fileno(), 1, 0.001), daemon=True).start()
    status = command.wait()
    if status:
        sys.stderr.write(f"command terminated with exit code {status}\n")
    sys.stderr.flush()
    os._exit(status)


def carry(source: int, to: int, pause_s: float) -> None:
    """Over a network that takes its time."""
    while data := os.read(source, 4096):
        time.sleep(pause_s)
        os.write(to, data)


if __name__ == "__main__":
    commands = {"get": get, "logs": logs, "describe": describe, "exec": execute}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        fail(f'error: unknown command "{" ".join(sys.argv[1:2])}" for "kubectl"')
    commands[sys.argv[1]](sys.argv[2:])
