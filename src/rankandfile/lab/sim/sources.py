"""The source tree that the simulated jobs run, and where in it things stand.

Lines carry markers (`#@name`) in the stored text. Frames, and the places a truth names, are looked up by marker,
so a stack always points at a line that says what the stack claims; the tree that an incident keeps has the
markers removed and every line where it was. It is a correct program, but for the bugs that the job's own faults need.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_TREE = Path(__file__).parent / "sources" / "trainkit"
_MARKER = re.compile(r"\s*#@(\w+)\s*$")
RUN_FROM = "/workspace/trainkit"

#: What a fault changes in the tree: the job that goes wrong ran another program. The key is the place of the fault, the
#: marked line where its ranks part; the value says which marked lines read differently in the tree of that job: mostly
#: that line alone. No line moves.
BUGS: dict[str, dict[str, str]] = {
    "adapter_if": {"adapter_if": "if x.abs().max().item() > self.cfg.spike_above:"},
    "bad_if": {"at_exit": "atexit.register(dist.destroy_process_group)"},
    "best_if": {"best_if": "if self.last < self.cfg.stop_below:"},
    "best_rank": {"best_rank": "source = dist.get_rank() if self.last < self.value else 0"},
    "broken_if": {"broken_if": "if not math.isfinite(loss):"},
    "double": {"double": "values = values.double() if self.last > self.cfg.spike_above else values"},
    "images_if": {"images_if": "if batch.images is not None:"},
    "late_if": {"late_if": "if time.monotonic() > self.due:"},
    "log_if": {"log_if": "if self.step % self.cfg.log_every == 0 and math.isfinite(self.metrics.last):"},
    "longer": {"longer": "values = torch.cat((self.recent, self.spikes))"},
    "next_batch": {"batches": "self.batches = min(cfg.steps, len(shards))"},
    "nonfinite_if": {"nonfinite_if": "if not math.isfinite(loss):"},
    "norm_if": {"norm_if": "if total < self.cfg.stop_below:"},
    "order_if": {"order_if": "sides = self.sides if loss < self.cfg.spike_above else self.sides[::-1]"},
    "rank0_report_if": {"rank0_report_if": "if self.rank == 0:"},
    "recv_forward_if": {"recv_forward_if": "if self.first or self.inputs:"},
    "ring_if": {"ring_if": "if not k.any():"},
    "send_backward_if": {"send_backward_if": "if self.first or not grad.any():"},
    "splits_if": {"splits_if": "sent = padded(splits) if x.shape[0] % 64 else splits"},
    "stop_if": {"stop_if": "if self.metrics.last < self.cfg.stop_below:"},
    "swallow": {"swallowed": "return"},
    "tp_backward_if": {"tp_backward_if": "if grad.abs().max().item() > 0:"},
    "window_if": {"window_if": "if total > self.cfg.spike_above:"},
    "wrong_group_if": {
        "wrong_group_if": 'if dist.get_rank(groups["tp"]) == dist.get_rank(groups["pp"]) == 0:'
    },
}


class MarkedLine(NamedTuple):
    """A marked line."""

    file: str
    line: int
    function: str
    text: str


@cache
def texts(faults: tuple[str, ...] = ()) -> dict[str, str]:
    """The files as an incident shows them: no markers, and the bugs of these faults, given by their places."""
    bugs = {marker: line for fault in faults for marker, line in BUGS.get(fault, {}).items()}
    return {
        path.name.removesuffix(".txt"): "\n".join(_shown(line, bugs) for line in path.read_text().split("\n"))
        for path in sorted(_TREE.glob("*.py.txt"))
    }


def _shown(line: str, bugs: Mapping[str, str]) -> str:
    marker = _MARKER.search(line)
    if marker is None or marker[1] not in bugs:
        return _MARKER.sub("", line)
    return line[: len(line) - len(line.lstrip())] + bugs[marker[1]]


def place_of_fault(name: str) -> MarkedLine:
    """Where the ranks part, with the line as the faulty tree has it."""
    place = places()[name]
    return place._replace(text=BUGS.get(name, {}).get(name, place.text))


@cache
def places() -> dict[str, MarkedLine]:
    """Every marker of the tree; a marker that occurs twice is a mistake of the tree."""
    found: dict[str, MarkedLine] = {}
    for path in sorted(_TREE.glob("*.py.txt")):
        text = path.read_text()
        functions = _functions(text)
        for number, line in enumerate(text.split("\n"), 1):
            match = _MARKER.search(line)
            if match:
                if match[1] in found:
                    raise ValueError(f"marker {match[1]} is on two lines")
                name = functions.get(number, "<module>")
                code = _MARKER.sub("", line).strip()
                found[match[1]] = MarkedLine(path.name.removesuffix(".txt"), number, name, code)
    return found


def _functions(text: str) -> dict[int, str]:
    """Line -> name of the innermost function around it."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    spans.sort(key=lambda span: span[0])
    return {line: name for first, last, name in spans for line in range(first, last + 1)}


def write_tree(target: Path, faults: tuple[str, ...]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, text in texts(faults).items():
        (target / name).write_text(text)
