"""The marks of the practice sets at first contact, those of one number together, out of the page that has them all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

_SET = re.compile(r"^### \S+ · practice-(\d+)[a-z]$", re.MULTILINE)
_MARK = re.compile(r"(\d+)/(\d+)")
_BOTH, _STACKS = "all evidence and sources", "stacks, logs and sources"
#: What is told of them: the row's head, the form of evidence, the column of the page.
_ROWS = (
    ("exactly the culprits of a hang", _BOTH, "culprits exact"),
    ("the cause", _BOTH, "cause"),
    ("the line", _BOTH, "line"),
    ("jobs in which somebody innocent was blamed", _BOTH, "innocent blamed"),
    ("exactly the culprits, from stacks, logs and sources", _STACKS, "culprits exact"),
)


def practice(page: str) -> str:
    """A table: a column for the sets of each number, a row for each question; of a lost set nothing is told."""
    pooled: dict[tuple[str, str], dict[int, list[int]]] = defaultdict(dict)
    for number, form, marks in _rows_of(page):
        for column, (right, asked) in marks.items():
            sums = pooled[form, column].setdefault(number, [0, 0])
            sums[0], sums[1] = sums[0] + right, sums[1] + asked
    numbers = sorted({number for by_number in pooled.values() for number in by_number})
    lines = [
        f"| practice sets | {' | '.join(map(str, numbers))} |",
        f"| --- |{' --- |' * len(numbers)}",
        *(
            f"| {head} | {' | '.join(_share(pooled[form, column].get(number)) for number in numbers)} |"
            for head, form, column in _ROWS
        ),
    ]
    return "\n".join(f"  {line}" for line in lines)


def _share(sums: list[int] | None) -> str:
    return "" if sums is None else f"{sums[0]}/{sums[1]}"


def _rows_of(page: str) -> Iterator[tuple[int, str, dict[str, tuple[int, int]]]]:
    """The number of a set, a form of evidence, and its marks: right and asked."""
    parts = _SET.split(page)
    for number, block in zip(parts[1::2], parts[2::2], strict=True):
        own = block.split("\n### ")[0]
        lines = [line for line in own.splitlines() if line.startswith("|")]
        columns = _cells(lines[0]) if lines else []
        for line in lines[2:]:
            cells = _cells(line)
            if cells[0] in (_BOTH, _STACKS) and len(cells) == len(columns):
                found = {name: _MARK.match(cell) for name, cell in zip(columns, cells, strict=True)}
                marks = {name: (int(mark[1]), int(mark[2])) for name, mark in found.items() if mark}
                yield int(number), cells[0], marks


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
