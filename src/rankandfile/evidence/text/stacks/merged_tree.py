"""A tree of the stacks of all tasks, merged, as STAT and cray-stat write it (`*.dot`): one stack for each task's end.

    102 [pos="0,0", label="main@train.py:197", fillcolor="#808080"];
    101 -> 102 [label="64:[0-63]"];

An arrow names the tasks that went along it: a task ends at the node from which no arrow takes it further. A task is a
rank, as its launcher numbers both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.raw import Frame
from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Collector, Draft, frame
from rankandfile.evidence.text.stacks.raw import RawProcess

_NODE = re.compile(r'^\s*"?(\w{1,40})"?\s*\[.*?\blabel="((?:[^"\\]|\\.)*)"')
_ARROW = re.compile(r'^\s*"?(\w{1,40})"?\s*->\s*"?(\w{1,40})"?\s*\[.*?\blabel="((?:[^"\\]|\\.)*)"')
_TASKS = re.compile(r"\[([\d,\- ]*)(\.\.\.)?\]")
_PLACE = re.compile(r"^(.*?)(?:@([^@]*?)(?::(\d{1,9}|\?))?)?$")
_DEEPEST = bounds.INNER + bounds.OUTER
_MOST_TASKS = 200_000


def read_tree(path: Path, _name: str) -> Decoded:
    """One stack for each task and place where it ended. Raises OSError only."""
    with path.open("rb") as file:
        text = file.read(bounds.JSON_FILE).decode("utf-8", "replace")
    collector = Collector()
    labels: dict[str, str] = {}
    above: dict[str, str] = {}
    came: dict[str, frozenset[int]] = {}
    lines: dict[str, int] = {}
    went: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(text.splitlines(), 1):
        if match := _ARROW.match(line):
            outer, inner, tasks = match[1], match[2], _tasks(match[3])
            if tasks is None:
                collector.note(str(number), "its list of tasks is cut short: they are left out")
                continue
            above[inner], came[inner], lines[inner] = outer, tasks, number
            went[outer] |= tasks
        elif match := _NODE.match(line):
            labels[match[1]] = match[2]
    for node, tasks in came.items():
        ended = tasks - went[node]
        if not ended:
            continue
        frames = _frames(node, labels, above)
        for rank in sorted(ended):
            process = collector.process(RawProcess(rank=rank, rank_from="content"))
            # STAT looks at the first thread of a process, unless it is asked for all.
            collector.add(
                process, Draft(lines[node], frames=frames, name="MainThread", native=_native(frames)), "stat"
            )
            collector.settle(process)
    return Decoded(stacks=collector.finish())


def _tasks(label: str) -> frozenset[int] | None:
    match = _TASKS.search(label)
    if match is None or match[2]:
        return None
    found: set[int] = set()
    for part in match[1].split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            return None
        begin, end = int(first), int(last or first)
        if not begin <= end < _MOST_TASKS:
            return None
        found.update(range(begin, end + 1))
    return frozenset(found)


def _frames(node: str, labels: dict[str, str], above: dict[str, str]) -> list[Frame]:
    frames: list[Frame] = []
    at: str | None = node
    while at is not None and at in above and len(frames) < _DEEPEST:
        match = _PLACE.match(labels.get(at, ""))
        if match is not None and match[1]:
            frames.append(
                frame(match[1], match[2] or "??", bounds.decimal(match[3] if match[3] != "?" else None))
            )
        at = above[at]
    return frames


def _native(frames: list[Frame]) -> bool:
    return any(not one.file.endswith(".py") for one in frames)
