"""Every answer to a set of incidents, kept in a folder, and two such folders compared: did a change change answers?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from rankandfile.lab.diagnosed import diagnosed
from rankandfile.model.diagnosis import to_json

from .analysers import OURS
from .corpus import of_each

_LONGEST, _SHARED = 60, 20


def write_answers(
    found: Sequence[Path], into: Path, *, jobs: int = 1, on_done: Callable[[], None] | None = None
) -> int:
    """Each incident's diagnoses, with each of `OURS`, as `into/NAME/ANALYSER.json`; how many there are."""
    names = _names(found)
    written = of_each(partial(_write, into, names), found, jobs, on_done=on_done)
    return sum(written)


def _names(found: Sequence[Path]) -> dict[Path, str]:
    """Of two incidents of one name, the folder that each lies in tells them apart."""
    alone = [one.name for one in found]
    return {one: one.name if alone.count(one.name) == 1 else f"{one.parent.name}_{one.name}" for one in found}


def _write(into: Path, names: dict[Path, str], incident: Path) -> int:
    folder = into / names[incident]
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for name, given in OURS.items():
        file = folder / f"{name}.json"
        file.unlink(missing_ok=True)
        paths, src = given.paths(incident), given.src(incident)
        if paths and all(path.is_dir() and any(path.iterdir()) for path in src):
            file.write_bytes(_answer(paths, src) + b"\n")
            written += 1
    return written


def _answer(paths: Sequence[Path], src: Sequence[Path]) -> bytes:
    try:
        return to_json(diagnosed(paths, src))
    except Exception as error:  # a failure is an answer too, and one that a change may change
        return msgspec.json.encode({"failed": f"{type(error).__name__}: {error}"})


def compared(before: Path, after: Path) -> tuple[int, dict[str, list[str]]]:
    """How many answers both folders hold, and those that differ, with what differs in them.

    An answer that only one of them holds differs; an incident that only one of them was asked about does not count.
    """
    asked = {folder.name for folder in after.iterdir()} & {folder.name for folder in before.iterdir()}
    files = {
        str(file.relative_to(side))
        for side in (before, after)
        for name in asked
        for file in (side / name).glob("*.json")
    }
    differing = {}
    for name in sorted(files):
        sides = [side / name for side in (before, after)]
        if missing := [side for side in sides if not side.is_file()]:
            differing[name] = [f"there is no {missing[0]}"]
        elif sides[0].read_bytes() != sides[1].read_bytes():
            differing[name] = list(differences(*(json.loads(side.read_bytes()) for side in sides)))
    return len(files), differing


def differences(before: object, after: object, at: str = "") -> Iterator[str]:
    """`verdicts[0].cause: raised -> killed`, a line for each value that differs."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from differences(before.get(key), after.get(key), f"{at}.{key}" if at else str(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{at}[{number}]")
    elif before != after:
        yield f"{at}: {_words(before, after)}"


def _words(before: object, after: object) -> str:
    """Of long texts only the place where they part."""
    one, other = (_short(value) for value in (before, after))
    parts = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    same = next(parts, min(len(one), len(other)))
    begin = same - _SHARED if max(len(one), len(other)) > _LONGEST and same > _SHARED else 0
    return " -> ".join(("…" if begin else "") + _cut(words[begin:]) for words in (one, other))


def _short(value: object) -> str:
    if isinstance(value, list):
        return f"{len(value)} of them"
    return value if isinstance(value, str) else json.dumps(value)


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
