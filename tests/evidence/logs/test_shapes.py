"""Every shape of the catalogue, with and without every prefix, alone and in the middle of ordinary output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.evidence.log_examples import EXAMPLES, MACHINE, Example
from support.evidence.reading_logs import events_of

from rankandfile.evidence.text.logs.raw import COLUMNS
from rankandfile.evidence.text.logs.shapes import SHAPES

Read = Callable[[str], list[dict[str, Any]]]

CARRIERS = {
    "none": "",
    "rank": "[rank3]:",
    "c10": "[rank3]:[E207 08:41:09.512004418 ProcessGroupNCCL.cpp:607] ",
    "c10 without a rank": "[E207 08:41:09.512004418 ProcessGroupNCCL.cpp:607] ",
    "c10 of 2.2": "[E ProcessGroupNCCL.cpp:737] ",
    "torchrun": "[default3]:",
    "torchrun and c10": "[default3]:[rank3]:[E1103 04:12:55.118264031 ProcessGroupNCCL.cpp:616] ",
    "srun": " 3: ",
    "mpirun": "[1,3]<stderr>:",
    "pdsh": "node07: ",
    "ray": "(RayTrainWorker pid=4242, ip=10.1.2.3) ",
    "kubectl": "[pod/w-3/main] ",
    "cri": "2026-02-07T08:41:09.512004418Z stderr F ",
    "compose": "w-0  | ",
    "python": "2026-02-07 08:41:09,512 ",
    "deepspeed": "[2026-02-07 08:41:09,512] ",
    "line number": "[31207] ",
    "agent": "E1120 12:51:51.910000 29335 torch/distributed/elastic/multiprocessing/api.py:1002] ",
    "colours": "\x1b[31m[rank3]:\x1b[0m",
    "progress bar": "5/10 [00:07, 1.4s/it]\r[rank3]:",
    "another rank's line": "[rank2]:[E1103 04:12:55.1 X.cpp:1] something else [rank3]:[E1103 04:12:55.2 X.cpp:1] ",
    "kubectl, ray and c10": "[pod/w-3/main] (Worker(x) pid=7, ip=10.1.2.3) [rank3]:[E207 08:41:09.5 X.cpp:7] ",
}

MACHINE_CARRIERS = {
    name: CARRIERS[name]
    for name in ("none", "srun", "ray", "kubectl", "cri", "compose", "colours", "line number")
}


@pytest.fixture
def read_text(tmp_path: Path) -> Read:
    return partial(events_of, tmp_path)


def check(rows: list[dict[str, Any]], example: Example, but: tuple[str, ...] = ()) -> dict[str, Any]:
    row = next((row for row in rows if row["kind"] == example.kind), None)
    assert row is not None, f"no {example.kind} in {[row['kind'] for row in rows]}"
    assert row["shape"] == example.id
    for name, value in example.expected.items():
        if name in but:
            continue
        assert (row[name] if name in COLUMNS else row["fields"].get(name)) == value, name
    return row


def carried(prefix: str, text: str) -> str:
    """Every line of a text behind a prefix, as a carrier does it."""
    return "".join(f"{prefix}{line}\n" for line in text.split("\n"))


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.id}-{e.kind}")
def test_a_shape_is_read_behind_any_prefix(example: Example, carrier: str, read_text: Read) -> None:
    check(read_text(carried(CARRIERS[carrier], example.text)), example)


@pytest.mark.parametrize("carrier", MACHINE_CARRIERS)
@pytest.mark.parametrize("example", MACHINE, ids=lambda e: f"{e.id}-{e.kind}")
def test_a_machine_line_is_read_behind_any_carrier(example: Example, carrier: str, read_text: Read) -> None:
    theirs = {"cri": ("time_ns", "time_quality"), "ray": ("host", "pid")}.get(carrier, ())
    check(read_text(carried(CARRIERS[carrier], example.text)), example, theirs)


@pytest.mark.parametrize("example", EXAMPLES + MACHINE, ids=lambda e: f"{e.id}-{e.kind}")
def test_the_line_is_the_line_an_editor_shows(example: Example, read_text: Read) -> None:
    before = "step 12 loss 1.3681\n\n2026-02-07 08:41:09,512 rank 2 INFO trainer: step 13 of 40\n"
    row = check(read_text(before + example.text + "\nstep 14 loss 1.2\n"), example)
    assert row["line"] == 4
    assert row["offset"] == len(before)
    assert row["repeats"] == 1


def test_every_shape_has_an_example() -> None:
    missing = {shape.id for shape in SHAPES} - {example.id for example in EXAMPLES + MACHINE}
    assert missing == {"P4", "R1", "R2", "R3"}, "those have tests of their own, all others an example"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.id}-{e.kind}")
def test_a_prefix_says_who_wrote_it(example: Example, read_text: Read) -> None:
    row = check(read_text(carried(CARRIERS["kubectl, ray and c10"], example.text)), example)
    if "rank" not in example.expected:
        assert (row["rank"], row["rank_from"]) == (3, "prefix")
    if "host" not in example.expected:
        assert row["host"] == "10.1.2.3"
    assert row["time_quality"] == "no_year"
