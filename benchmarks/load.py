"""How fast dumps become columns, against torch's own analyser and against the least that reading them can cost.

On the same files, in one run: (a) Rank & File from paths to a case, with its reader in Python and, where it is built,
with the native one, (b) ``fr_trace``, torch's analyser, its whole run, (c) a bare restricted unpickle of every file,
result dropped, on as many processes as (a) uses. Each is a process tree of its own, Python's start included. Memory is
the sum over the tree of what each process has for itself and its share of what it shares (PSS), sampled.

    python benchmarks/load.py --ranks 1024 --calls 2000 --docs docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from pages import write_block

from rankandfile.evidence.flight.native import SWITCH, native

HERE = Path(__file__).parent
BEGIN, END = "<!-- loading: written by benchmarks/load.py -->", "<!-- loading: end -->"
SAMPLE = 0.05

OURS = """
import sys, tempfile
from pathlib import Path
from rankandfile.evidence.load import load
with tempfile.TemporaryDirectory() as spool:
    case = load([Path(sys.argv[1])], Path(spool), jobs=int(sys.argv[2]))
print(case.calls.height, case.dumps_used.height)
"""

BARE = """
import gc, pickle, sys
class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError
    def persistent_load(self, pid):
        raise pickle.UnpicklingError
gc.disable()
calls = 0
for path in sys.stdin.read().split("\\n"):
    with open(path, "rb") as file:
        calls += len(Plain(file).load()["entries"])
print(calls)
"""


@dataclass
class Run:
    wall_s: float
    cpu_s: float
    peak_mb: float


def tree(root: int) -> list[int]:
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            tasks = list(Path(f"/proc/{pid}/task").iterdir())
            todo += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def pss_mb(pid: int) -> float:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def measure(
    command: list[str], stdin: list[str] | None = None, times: int = 1, **env: str
) -> tuple[Run, str]:
    """Run `times` copies of the command at once, each with its own share of input, and watch the whole tree."""
    began = time.perf_counter()
    before = os.times()
    processes = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | env,
        )
        for _ in range(times)
    ]
    peak, over = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(SAMPLE):
            peak = max(peak, sum(pss_mb(pid) for process in processes for pid in tree(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for process, text in zip(processes, stdin or [""] * times, strict=True):
            assert process.stdin is not None
            process.stdin.write(text)
            process.stdin.close()
        outputs = [process.stdout.read() for process in processes if process.stdout is not None]
        failed = [process.wait() for process in processes]
    finally:
        over.set()
        watcher.join()
        for process in processes:
            process.kill()
    after = os.times()
    if any(failed):
        raise SystemExit(f"failed: {command[:4]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(time.perf_counter() - began, cpu, peak), "".join(outputs)


def best(runs: list[Run]) -> Run:
    return Run(
        min(run.wall_s for run in runs), min(run.cpu_s for run in runs), max(run.peak_mb for run in runs)
    )


def compare(folder: Path, jobs: int, repeat: int, fr_trace: bool) -> dict[str, Any]:
    paths = sorted(folder.iterdir())
    size = sum(len(path.read_bytes()) for path in paths)  # and the page cache is warm
    bare_runs, bare_calls = [], 0
    # With the native reader, where there is one, and without.
    switches = {"ours": "0"} | ({"native": "1"} if native().read is not None else {})
    our_runs: dict[str, list[Run]] = {name: [] for name in switches}
    for _ in range(repeat):
        shares = ["\n".join(map(str, paths[n::jobs])) for n in range(jobs)]
        run, text = measure([sys.executable, "-c", BARE], shares, jobs)
        bare_runs.append(run)
        bare_calls = sum(map(int, text.split()))
        for name, switch in switches.items():
            run, text = measure([sys.executable, "-c", OURS, str(folder), str(jobs)], **{SWITCH: switch})
            our_runs[name].append(run)
            calls, dumps = map(int, text.split())
            if (calls, dumps) != (bare_calls, len(paths)):
                raise SystemExit(f"loaded {calls} calls of {dumps} files, not {bare_calls} of {len(paths)}")
    ours, bare = best(our_runs["ours"]), best(bare_runs)
    found: dict[str, Any] = {
        "files": len(paths),
        "megabytes": round(size / 1e6, 1),
        "calls": bare_calls,
        "processes": jobs,
        "repeat": repeat,
        "python": platform.python_version(),
        "load": round(os.getloadavg()[1], 1),
        "ours": asdict(ours),
        "bare": asdict(bare),
        "ours_to_bare_wall": ours.wall_s / bare.wall_s,
        "ours_to_bare_cpu": ours.cpu_s / bare.cpu_s,
    }
    if "native" in our_runs:
        quick = best(our_runs["native"])
        found |= {
            "native": asdict(quick),
            "ours_to_native_wall": ours.wall_s / quick.wall_s,
            "ours_to_native_cpu": ours.cpu_s / quick.cpu_s,
        }
    if fr_trace:
        command = [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(folder)]
        theirs, _ = measure(command)
        found |= {
            "torch": metadata.version("torch"),
            "fr_trace": asdict(theirs),
            "fr_trace_to_ours_wall": theirs.wall_s / ours.wall_s,
            "ours_to_fr_trace_memory": ours.peak_mb / theirs.peak_mb,
        }
        if "native" in found:
            found["fr_trace_to_native_wall"] = theirs.wall_s / found["native"]["wall_s"]
    return found


def markdown(found: dict[str, Any]) -> str:
    names = {
        "ours": "Rank & File, files to columns",
        "native": "the same with `rankandfile-native`",
        "bare": "bare restricted unpickle, dropped",
        "fr_trace": "torch fr_trace, whole run",
    }
    lines = [
        f"{found['files']} ranks, {found['calls']:,} calls, {found['megabytes']:,} MB of pickles; "
        f"{found['processes']} processes; load {found['load']}; Python {found['python']}"
        + (f", torch {found['torch']}" if "torch" in found else "")
        + f"; best of {found['repeat']}"
        + (" (fr_trace: one run)." if "torch" in found else "."),
        "",
        "| | wall time | CPU time | peak memory of all processes |",
        "| --- | ---: | ---: | ---: |",
    ]
    for key, name in names.items():
        if key in found:
            run = found[key]
            lines.append(
                f"| {name} | {run['wall_s']:.2f} s | {run['cpu_s']:.2f} s | {run['peak_mb']:,.0f} MB |"
            )
    lines += [
        "",
        f"Against the bare unpickle on as many cores: {found['ours_to_bare_wall']:.2f} × its wall time, ",
    ]
    lines[-1] += f"{found['ours_to_bare_cpu']:.2f} × its CPU time."
    if "native" in found:
        lines[-1] += (
            f" Without the native reader, it takes {found['ours_to_native_wall']:.1f} × the wall time and "
            f"{found['ours_to_native_cpu']:.1f} × the CPU time that it takes with it."
        )
    if "fr_trace" in found:
        lines[-1] += (
            f" Against fr_trace: {found['fr_trace_to_ours_wall']:.0f} times faster, with "
            f"{found['ours_to_fr_trace_memory']:.0%} of its memory"
            + (f"; {found['fr_trace_to_native_wall']:.0f} times with it." if "native" in found else ".")
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--calls", type=int, default=2000, help="per rank")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="dumps that are there already, instead of generated ones")
    parser.add_argument("--no-fr-trace", action="store_true", help="it takes minutes on many ranks")
    parser.add_argument("--out", type=Path, help="write the figures there as JSON")
    parser.add_argument("--docs", type=Path, help="rewrite the marked block of this page")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="raf-bench-") as temporary:
        folder = args.folder or Path(temporary) / "dumps"
        if args.folder is None:
            sizes = ["--ranks", str(args.ranks), "--calls", str(args.calls), "--out", str(folder)]
            subprocess.run(
                [sys.executable, str(HERE / "generate.py"), *sizes], check=True, stdout=subprocess.DEVNULL
            )
        found = compare(folder, args.jobs, args.repeat, not args.no_fr_trace)
    block = markdown(found)
    print(block)
    if args.docs and args.no_fr_trace:
        raise SystemExit("--docs: the page compares with fr_trace, which was left out")
    if args.docs:
        command = f"python benchmarks/load.py --ranks {args.ranks} --calls {args.calls}"
        write_block(args.docs, BEGIN, END, [f"`{command}`: {block}"], "Loading")
    if args.out:
        args.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
