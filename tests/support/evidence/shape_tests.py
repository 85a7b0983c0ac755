"""What must hold for every example of a log shape: with and without every prefix, alone and in ordinary output.

A test file of a shape has its examples, and a class of its own that inherits these tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from rankandfile.evidence.text.logs.raw import COLUMNS
from support.evidence.reading_logs import events_of

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

#: What may stand before a line whose writer puts host and process into it.
MACHINE_CARRIERS = ("none", "srun", "ray", "kubectl", "cri", "compose", "colours", "line number")


class Example(NamedTuple):
    id: str
    kind: str
    text: str
    """The writer's own text: no carrier's prefix; several lines where the shape has them."""
    expected: dict[str, Any]
    """Columns; names that are no column are entries of `fields`."""


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


def behind(examples: Sequence[Example], carriers: Sequence[str]) -> list[Any]:
    """Every example behind every carrier; all but the bare one and another in turn belong to the lab's tests."""
    return [
        pytest.param(
            example,
            carrier,
            id=f"{example.id}-{example.kind}-{carrier}",
            marks=() if number in (0, 1 + turn % (len(carriers) - 1)) else pytest.mark.lab,
        )
        for turn, example in enumerate(examples)
        for number, carrier in enumerate(carriers)
    ]


class ShapeTests:
    """The tests of one module of shapes, by its examples."""

    examples: ClassVar[Sequence[Example]] = ()
    #: Of writers that put the host, the process or the machine into the line themselves: no rank's prefix before them.
    machine: ClassVar[Sequence[Example]] = ()

    def __init_subclass__(cls) -> None:
        if not cls.examples:
            cls.test_a_prefix_says_who_wrote_it = None  # type: ignore[assignment, method-assign]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "carrier" in metafunc.fixturenames:
            cases = behind(self.examples, tuple(CARRIERS)) + behind(self.machine, MACHINE_CARRIERS)
            metafunc.parametrize(("example", "carrier"), cases)
        else:
            examples = [*self.examples, *(() if "prefix" in metafunc.function.__name__ else self.machine)]
            metafunc.parametrize("example", examples, ids=lambda example: f"{example.id}-{example.kind}")

    def test_it_is_read_behind_any_carrier(self, tmp_path: Path, example: Example, carrier: str) -> None:
        theirs: dict[str, tuple[str, ...]] = {"cri": ("time_ns", "time_quality"), "ray": ("host", "pid")}
        but = theirs.get(carrier, ()) if example in self.machine else ()
        check(events_of(tmp_path, carried(CARRIERS[carrier], example.text)), example, but)

    def test_the_line_is_the_line_an_editor_shows(self, tmp_path: Path, example: Example) -> None:
        before = "step 12 loss 1.3681\n\n2026-02-07 08:41:09,512 rank 2 INFO trainer: step 13 of 40\n"
        row = check(events_of(tmp_path, before + example.text + "\nstep 14 loss 1.2\n"), example)
        assert (row["line"], row["offset"], row["repeats"]) == (4, len(before), 1)

    def test_a_prefix_says_who_wrote_it(self, tmp_path: Path, example: Example) -> None:
        row = check(events_of(tmp_path, carried(CARRIERS["kubectl, ray and c10"], example.text)), example)
        if "rank" not in example.expected:
            assert (row["rank"], row["rank_from"]) == (3, "prefix")
        if "host" not in example.expected:
            assert row["host"] == "10.1.2.3"
        assert row["time_quality"] == "no_year"
