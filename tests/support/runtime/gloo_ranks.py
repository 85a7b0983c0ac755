"""Runs a function as real ranks over gloo; `ranks.run` gives what each rank returned or raised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankandfile.lab.ranks import free_port

SERVER = Path(__file__).parent / "rank_server.py"

#: What torch says where ranks do not come together at the very beginning, before anything of ours runs: a port
#: that somebody else took between asking for it and taking it, a connection that was lost while all connect to all.
NEVER_MET = ("EADDRINUSE", "connectFullMesh failed")


@dataclass
class Rank:
    exit: int
    out: str
    returned: Any = None
    raised: str = ""
    message: str = ""
    odd: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    step: str = ""
    values: dict[str, str] = field(default_factory=dict)


class Ranks:
    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        self._server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()

    def run(
        self, world: int, program: Callable[..., Any], *args: object, limit: float = 300, **env: str
    ) -> list[Rank]:
        """`env` reaches the ranks before anything of rankandfile is imported there."""
        for _ in range(3):
            found = self._run(world, program, args, limit, env)
            if not any(text in one.message for one in found for text in NEVER_MET):
                break
        return found

    def _run(
        self,
        world: int,
        program: Callable[..., Any],
        args: tuple[object, ...],
        limit: float,
        env: dict[str, str],
    ) -> list[Rank]:
        with tempfile.TemporaryDirectory() as folder:
            request = {
                "world": world,
                "module": program.__module__,
                "function": program.__name__,
                "args": args,
                "env": env,
                "port": free_port(),
                "folder": folder,
                "limit": limit,
            }
            assert self._server.stdin is not None
            self._server.stdin.write(json.dumps(request) + "\n")
            self._server.stdin.flush()
            exits = json.loads(self._line())["exits"]
            return [_rank(Path(folder), rank, exits[str(rank)]) for rank in range(world)]

    def stop(self) -> None:
        self._server.kill()
        self._server.wait()
        for pipe in (self._server.stdin, self._server.stdout):
            if pipe is not None:
                pipe.close()


def _rank(folder: Path, rank: int, code: int) -> Rank:
    path = folder / f"{rank}.json"
    answer = json.loads(path.read_text()) if path.exists() else {}
    raised = answer.get("raised", {})
    return Rank(
        exit=code,
        out=(folder / f"{rank}.out").read_text(errors="replace"),
        returned=answer.get("returned"),
        raised=raised.get("type", ""),
        message=raised.get("message", ""),
        odd=list(raised.get("odd") or []),
        missing=list(raised.get("missing") or []),
        step=raised.get("step") or "",
        values=raised.get("values") or {},
    )
