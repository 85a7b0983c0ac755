"""How far a rank's own output says that it has come: a bar, a count towards a total, or a count that has begun anew."""

from __future__ import annotations

import contextlib
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

#: Of a log, its newest bytes.
TAIL = 1 << 16
_RANK = re.compile(r"rank_(\d+)\.")
_LABEL = re.compile(r"(?m)^\[default(\d{1,4})\]: ?(.*)$")
_COUNT = re.compile(r"(\d+) ?(?:/|of) ?(\d+)(?![/.\d])|(\d+(?:\.\d+)?) ?%")
#: A whole number that stands for itself: no part of a time, a date, an address or a fraction, and without a unit.
_NUMBER = re.compile(
    r"(?<![\w.:,/#+-])(\d{1,9})(?![\d.:,/%-]|\.\d| ?(?:[mun]?s|secs?|seconds|min|[KMGT]i?B|B)\b)"
)
#: Who counts its own patience gets nowhere.
_WAITS = re.compile(
    r"wait|retr(?:y|ies)|attempt|still|time(?:d )?.?out|heartbeat|alive|lock|poll|sleep", re.IGNORECASE
)
#: Nor does who counts how often it has looked, where nothing says towards what.
_LOOKS = re.compile(
    r"look|check|tr(?:y|ies)\b|ready|not yet|connect|elapsed|uptime|monitor|probe", re.IGNORECASE
)
#: As many rounds in a row.
_ROUNDS = 2


def sizes(logs: Iterable[Path]) -> dict[Path, int]:
    found = {}
    for log in logs:
        with contextlib.suppress(OSError):
            found[log] = log.stat().st_size
    return found


def counted(
    before: Mapping[Path, int], logs: Sequence[Path], still_s: float, ranks: Sequence[int] = ()
) -> dict[int, tuple[str, str]]:
    """Rank -> how far its output said it was, at first and at last, where that went on and has not ended since.

    `ranks`: those of this machine in their order, of whom torchrun labels the lines."""
    found: dict[int, tuple[str, str]] = {}
    for log, size in sizes(logs).items():
        with contextlib.suppress(OSError):
            if time.time() - log.stat().st_mtime > max(5.0, still_s / 2):
                continue
            start = min(before.get(log, 0), size)
            with log.open("rb") as file:
                file.seek(max(start - TAIL, 0))
                earlier = _by_rank(log, file.read(min(start, TAIL)), ranks)
                file.seek(max(start, size - TAIL))
                now = _by_rank(log, file.read(TAIL), ranks)
            for rank, text in now.items():
                if (told := risen(text) or begun(earlier.get(rank, ""), text)) is not None:
                    found[rank] = told
    return found


def _by_rank(log: Path, data: bytes, ranks: Sequence[int]) -> dict[int, str]:
    """What each rank wrote there: all of it in a log of its own, else what is labelled so."""
    text = data.decode("utf-8", "replace")
    if (own := _RANK.match(log.name)) is not None:
        return {int(own[1]): text}
    lines: dict[int, list[str]] = defaultdict(list)
    for label, line in _LABEL.findall(text):
        if int(label) < len(ranks):
            lines[ranks[int(label)]].append(line)
    return {rank: "\n".join(written) for rank, written in lines.items()}


def risen(text: str) -> tuple[str, str] | None:
    """The first and the last state of a progress bar, or of a line that counts towards a total; None where none is."""
    first: dict[tuple[str, int], tuple[float, str]] = {}
    last: dict[tuple[str, int], tuple[float, str]] = {}
    for line in _lines(text):
        for place, count in enumerate(_COUNT.finditer(line)):
            if count[3] is None and int(count[1]) > int(count[2]):
                continue
            key = _words(line[: count.start()]), place
            value = float(count[3]) / 100 if count[3] else int(count[1]) / max(int(count[2]), 1)
            first.setdefault(key, (value, count[0]))
            last[key] = value, count[0]
    rising = [(first[key][1], last[key][1]) for key in first if last[key][0] > first[key][0]]
    # Of a bar with both, the numbers say more than the percents.
    return max(rising, key=lambda pair: "%" not in pair[1], default=None)


def begun(earlier: str, text: str) -> tuple[str, str] | None:
    """The first and the last of a count by ones, as of an evaluation's batches, that began after the job's last call.

    A count that only goes on, as a monitor's, was there as well while the job moved: it tells of no work."""
    before = {key: said[-1][0] for key, said in _counts(earlier).items()}
    for key, said in _counts(text).items():
        values = [value for value, _ in said]
        by_ones = all(value == values[0] + n for n, value in enumerate(values))
        if len(values) >= _ROUNDS and by_ones and values[0] <= before.get(key, values[0]):
            return said[0][1], said[-1][1]
    return None


def _counts(text: str) -> dict[tuple[str, int], list[tuple[int, str]]]:
    """By words before a number, and which number of its line it is: the numbers, each with the word before it."""
    found: dict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
    for line in _lines(text):
        if not _LOOKS.search(line):
            for place, number in enumerate(_NUMBER.finditer(line)):
                word = re.findall(r"[A-Za-z]{1,24}", line[: number.start()])[-1:]
                found[_words(line[: number.start()]), place].append(
                    (int(number[1]), " ".join([*word, number[1]]))
                )
    return found


def _lines(text: str) -> Iterator[str]:
    return (line for line in re.split(r"[\r\n]+", text) if not _WAITS.search(line))


def _words(text: str) -> str:
    return "".join(re.findall(r"[A-Za-z]+", text))
