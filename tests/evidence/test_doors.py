"""One file put into its folder is enough: a shape of a log, a kind of file, a way of writing stacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankandfile

pytestmark = pytest.mark.slow

PACKAGE = Path(rankandfile.__file__).parent

SHAPE = '''
"""A watchman of our own."""

from rankandfile.evidence.text.logs.shape import Shape

SHAPES = (
    Shape(
        "kernel_oom", "Z1", "origin", "watchman ended",
        r"the watchman ended process (?P<pid>\\d+) of rank (?P<rank>\\d+)",
    ),
)
'''

KIND = '''
"""A dump of a recorder of our own: its name, and then JSON."""

import json
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.kind import FileKind, Sign
from rankandfile.evidence.flight import header

MAGIC = b"OURS\\n"


def decode(path: Path, name: str) -> Decoded:
    value = json.loads(path.read_bytes().removeprefix(MAGIC))
    dumps, notes = header.decode_all([(value.pop("rank"), value)], "ours")
    return Decoded(dumps=dumps, notes=notes)


KIND = FileKind("ours", (Sign(5, lambda head: head.data.startswith(MAGIC)),), decode, is_dump=True)
'''

FORMAT = '''
"""Stacks as a debugger of our own prints them."""

import re

from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.stream import Format


class Ours:
    complete = False

    def __init__(self, number, stream):
        self.stream, self.draft = stream, Draft(number, name="MainThread")
        self.process = stream.snapshot_with("main")

    def feed(self, text):
        match = re.match(r"~ (\\w+) @ (\\S+):(\\d+)$", text)
        if match:
            self.draft.frames.append(frame(match[1], match[2], int(match[3])))
        return match is not None

    def close(self):
        self.stream.collector.add(self.process, self.draft, "ours")


FORMAT = Format("~~ STACK", lambda number, text, stream: Ours(number, stream) if text == "~~ STACK" else None)
'''


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, with one file more in each of the folders."""
    folder = tmp_path_factory.mktemp("house")
    left_out = shutil.ignore_patterns("__pycache__", "lab")
    shutil.copytree(PACKAGE, folder / "rankandfile", ignore=left_out)
    evidence = folder / "rankandfile" / "evidence"
    (evidence / "text/logs/shapes/watchman.py").write_text(SHAPE)
    (evidence / "files/kinds/ours.py").write_text(KIND)
    (evidence / "text/stacks/formats/ours.py").write_text(FORMAT)
    return folder


def run(house: Path, code: str, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


DIAGNOSE = """
import sys
from rankandfile.cli.main import main
sys.argv = ["raf", "diagnose", *sys.argv[1:], "--format", "json"]
main()
"""


def dump(rank: int, calls: int) -> bytes:
    entries = [
        {"record_id": n, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": n, "p2p_seq_id": 0,
         "op_id": n, "profiling_name": "nccl:all_reduce", "time_created_ns": 1_700_000_000_000_000_000 + n,
         "input_sizes": [[4]], "input_dtypes": ["Float"], "output_sizes": [[4]], "output_dtypes": ["Float"],
         "state": "completed" if n < calls - 1 else "started", "is_p2p": False, "retired": False, "timeout_ms": 600000,
         "frames": [{"name": "step", "filename": "/job/train.py", "line": 10}]}
        for n in range(calls)
    ]  # fmt: skip
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
    value = {"rank": rank, "version": "2.10", "entries": entries, "pg_config": config, "pg_status": {}}
    return b"OURS\n" + json.dumps(value).encode()


def test_a_shape_of_a_log(house: Path, tmp_path: Path) -> None:
    for rank, calls in ((0, 6), (1, 5)):
        (tmp_path / f"dump_{rank}.json").write_bytes(dump(rank, calls).removeprefix(b"OURS\n"))
    (tmp_path / "node.log").write_text("step 4\nthe watchman ended process 4242 of rank 1\n")
    (verdict, *_) = run(house, DIAGNOSE, str(tmp_path))["verdicts"]
    assert (verdict["cause"], [one["rank"] for one in verdict["culprits"]]) == ("killed", [1])


def test_a_kind_of_file(house: Path, tmp_path: Path) -> None:
    found = []
    for name, begins in (("one.xyz", 0), ("dump_{}.json", 5)):
        folder = tmp_path / name
        folder.mkdir()
        for rank, calls in ((0, 6), (1, 5)):
            (folder / f"{rank}{name.format(rank)}").write_bytes(dump(rank, calls)[begins:])
        found.append(run(house, DIAGNOSE, str(folder))["verdicts"][0])
    ours, torchs = found
    assert (ours["cause"], ours["sentence"]) == (torchs["cause"], torchs["sentence"])


LOAD = """
import json, sys, tempfile
from pathlib import Path
from rankandfile.evidence.load import load
with tempfile.TemporaryDirectory() as spool:
    case = load([Path(sys.argv[1])], Path(spool))
print(json.dumps({
    "dumps": case.dumps.select("rank", "format", "calls").rows(),
    "stacks": case.stack_files["format"].to_list(),
    "functions": case.frames["function"].to_list(),
}))
"""


def test_each_is_read_by_the_processes_that_decode(house: Path, tmp_path: Path) -> None:
    (tmp_path / "one.xyz").write_bytes(dump(0, 6))
    (tmp_path / "stacks_0.txt").write_text("~~ STACK\n~ wait @ /job/train.py:7\n")
    found = run(house, LOAD, str(tmp_path))
    assert found["dumps"] == [[0, "ours", 6]]
    assert found["stacks"] == ["ours"] and "wait" in found["functions"]


LIGHT = """
import json, sys
import rankandfile.evidence.files.worker as worker
worker.signs()
print(json.dumps([name for name in ("polars", "numpy", "torch") if name in sys.modules]))
"""


def test_the_decoding_process_needs_nothing_heavy(house: Path) -> None:
    assert run(house, LIGHT) == []
