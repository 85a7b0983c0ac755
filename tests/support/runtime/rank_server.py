"""Forks the ranks of test programs off one process that has torch: a run then takes a fraction of a second.

Run as a program: reads one request per line (JSON), runs it, and answers with one line (JSON).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1


def main() -> None:
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    sys.path.insert(0, str(Path(__file__).parents[2]))
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _run(request: dict[str, Any]) -> dict[str, Any]:
    folder = Path(request["folder"])
    parent = os.getpid()
    pids = {}
    for rank in range(request["world"]):
        pid = os.fork()
        if pid == 0:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            _be_rank(rank, request, folder)
        pids[pid] = rank
    exits: dict[int, int] = {}
    deadline = time.monotonic() + request["limit"]
    while pids:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in pids:
            exits[pids.pop(pid)] = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(ProcessLookupError):  # what a rank has started (torch's debug server)
                os.killpg(pid, signal.SIGKILL)
        elif time.monotonic() > deadline:
            for late in pids:
                os.kill(late, signal.SIGKILL)
        else:
            time.sleep(0.005)
    return {"exits": exits}


def _be_rank(rank: int, request: dict[str, Any], folder: Path) -> None:
    os.setsid()
    out = os.open(folder / f"{rank}.out", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(out, 1)
    os.dup2(out, 2)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(request["world"]),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(request["port"]),
        GLOO_SOCKET_IFNAME="lo",
        **request["env"],
    )
    answer: dict[str, Any] = {}
    code = 0
    try:
        program = getattr(importlib.import_module(request["module"]), request["function"])
        answer["returned"] = program(*request["args"])
    except BaseException as error:
        traceback.print_exc()
        code = 1
        facts = {key: getattr(error, key, None) for key in ("odd", "missing", "step", "values")}
        answer["raised"] = {"type": type(error).__name__, "message": str(error), **facts}
    (folder / f"{rank}.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    sys.stderr.flush()
    # Not through the interpreter's end: what torch does there is not what these tests are about.
    os._exit(code)


if __name__ == "__main__":
    main()
