"""Real hangs of real NCCL, with what each leaves behind, made on one GPU: `python tests/nccl/record.py --out FOLDER`.

Needs torch with CUDA, and py-spy for the stacks. Every rank is a node of its own to NCCL (`NCCL_HOSTID`), which lets
several share a GPU. What the tests read is kept in `recorded.tar.xz`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
WORLD = 4
#: So long has nobody said anything when the job is taken to hang; then its stacks are taken, twice.
QUIET_S = 8.0
LONGEST_S = 170.0
#: What a program's run is given: NCCL's own words of each call; when devices begin calls.
SETTINGS = {
    "other_length": {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,COLL"},
    "kernel_never_ends": {"TORCH_NCCL_ENABLE_TIMING": "1"},
}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("names", nargs="*")
    asked.add_argument("--out", type=Path, required=True)
    asked.add_argument("--at-once", type=int, default=4)
    asked.add_argument(
        "--under-raf", action="store_true", help="run them with `raf run`, which takes the evidence"
    )
    given = asked.parse_args()
    names = given.names or sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "one_gpu")
    with ThreadPoolExecutor(given.at_once) as pool:
        for line in pool.map(lambda name: _run(name, given.out, given.under_raf), names):
            print(line, flush=True)


def _run(name: str, out: Path, under_raf: bool) -> str:
    folder = out / (f"{name}-raf" if under_raf else name)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "dumps").mkdir(parents=True)
    environment = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free()),
        "NCCL_RAS_ADDR": f"127.0.0.1:{_free()}",
        "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": f"{folder}/dumps/nccl_trace_rank_",
        "TORCH_FR_DUMP_TEMP_FILE": f"{folder}/dumps/nccl_trace_rank_",
        "DUMPS": f"{folder}/dumps",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.update({"NCCL_DEBUG": "WARN", **SETTINGS.get(name, {})})
    began = time.monotonic()
    told = _under_raf(name, folder, environment) if under_raf else _alone(name, folder, environment)
    return f"{folder.name}: {told}, {time.monotonic() - began:.0f} s, {len(list((folder / 'dumps').iterdir()))} dumps"


def _alone(name: str, folder: Path, environment: dict[str, str]) -> str:
    ranks, logs = [], []
    for rank in range(WORLD):
        logs.append(folder / f"rank_{rank}.log")
        own = {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(WORLD)}
        with logs[-1].open("wb") as log:
            ranks.append(
                subprocess.Popen(
                    [sys.executable, str(PROGRAMS / f"{name}.py")], env=own, stdout=log, stderr=log
                )
            )
    began, looked = time.monotonic(), 0
    while any(one.poll() is None for one in ranks):
        time.sleep(0.5)
        if time.monotonic() - began > LONGEST_S:
            for one in ranks:
                one.kill()
            return "killed by the recorder"
        spoke = max(log.stat().st_mtime for log in logs)
        begun = all(b"step" in log.read_bytes() for log in logs)
        if begun and looked < 2 and time.time() - spoke > QUIET_S * (looked + 1):
            looked += 1
            _look(
                folder,
                ("first", "second")[looked - 1],
                [one.pid if one.poll() is None else 0 for one in ranks],
                environment,
            )
    return "ended with " + ", ".join(str(one.returncode) for one in ranks)


def _look(folder: Path, which: str, pids: list[int], environment: dict[str, str]) -> None:
    for rank, pid in enumerate(pids):
        if pid:
            stacks = subprocess.run(["py-spy", "dump", "--pid", str(pid)], capture_output=True, text=True)
            (folder / f"stack_{which}_rank_{rank}.txt").write_text(stacks.stdout or stacks.stderr)
    host, port = environment["NCCL_RAS_ADDR"].split(":")
    for form in ("text", "json"):
        try:
            with socket.create_connection((host, int(port)), timeout=5) as ras:
                ras.settimeout(12)
                ras.sendall(
                    b"client protocol 2\nset format json\nverbose status\n"
                    if form == "json"
                    else b"verbose status\n"
                )
                answer = b"".join(iter(lambda: ras.recv(65536), b""))
        except OSError as error:
            answer = f"no answer: {error}".encode()
        (folder / f"ras_{which}.{form}").write_bytes(answer)


def _under_raf(name: str, folder: Path, environment: dict[str, str]) -> str:
    for setting in [key for key in environment if key.startswith(("TORCH_NCCL_", "TORCH_FR_"))]:
        del environment[setting]
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(WORLD)]
    launch += ["--master-port", environment["MASTER_PORT"], str(PROGRAMS / f"{name}.py")]
    raf = [
        sys.executable,
        "-m",
        "rankandfile",
        "run",
        "--src",
        str(PROGRAMS),
        "-o",
        str(folder / "case"),
        "--",
        *launch,
    ]
    with (folder / "output.log").open("wb") as log:
        try:
            ended = subprocess.run(raf, env=environment, stdout=log, stderr=log, timeout=LONGEST_S).returncode
        except subprocess.TimeoutExpired:
            return "killed by the recorder"
    return f"ended with {ended}"


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
