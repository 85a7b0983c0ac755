"""What stands in the panes, as text, and where in their rows a jump or a search leads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import shorten

from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.headline import headline, sure
from rankandfile.render.headline import place as place_to_look
from rankandfile.render.words import plain

from .rows import NEVER_MADE, CallRow, RankRow

#: Words are not broken: a line of the sentence is so much shorter than the window.
_SENTENCE_LINES, _WORD = 4, 12
_PATH_PARTS = 2
_INSTALLED = re.compile(r"[/\\](?:(?:site|dist)-packages|python3\.\d+)[/\\]|^<")
_DONE = ("completed", "ended", NEVER_MADE)


def verdict(diagnosis: Diagnosis, width: int) -> Text:
    """The answer and its place, and as much of the sentence as fits below them; `v` has all of it."""
    if not diagnosis.verdicts:
        return Text("no verdict")
    best = diagnosis.verdicts[0]
    said, where = headline(best, diagnosis.job.world_size), place_to_look(best)
    sentence = shorten(plain(best.sentence), _SENTENCE_LINES * max(20, width - _WORD), placeholder=" …")
    return Text.assemble((said, "bold"), f"  {where}" if where else "", f"  {sure(best)}\n", sentence)


def state(call: CallRow) -> str:
    """In a word: the column is narrow, and most calls are done."""
    return "done" if call.state == "completed" else call.state


def style(call: CallRow) -> str:
    if call.made_by is not None:
        return "bold red reverse"
    return "bold reverse" if call.diverged else "" if ended(call) else "bold"


def stack_title(call: CallRow) -> str:
    if call.made_by is not None:
        return plain(f"{call.name}, as rank {call.made_by} made it")
    return f"stack of {plain(call.name)}"


def stack(lines: list[str]) -> Text:
    """A frame a line, its file by the end of its path: the title of the source has all of it."""
    return Text("\n".join(_frame(plain(line)) for line in lines) or "no stack was recorded")


def _frame(line: str) -> str:
    function, _, path = line.rpartition("  ")
    parts = path.replace("\\", "/").split("/")
    return f"{function}  {'/'.join(parts[-_PATH_PARTS:])}" if function else line


def place_title(file: str, line: int, width: int) -> str:
    """Of a long path the end, which has the name and the line."""
    said = plain(f"{file}:{line}")
    return said if not 0 < width < len(said) else f"…{said[1 - width :]}"


def indent(lines: list[tuple[int, str]], line: int) -> int:
    """How far the line that counts is indented."""
    words = next((words for number, words in lines if number == line), "")
    return len(words) - len(words.lstrip())


def source(lines: list[tuple[int, str]], file: str, line: int) -> tuple[Text, int]:
    """The lines with the one that counts marked, and which of them that is."""
    text = Text(no_wrap=True)
    if not lines:
        text.append("not at hand: name the job's source with --src DIR" if file else "no place was recorded")
    here, wide = 0, len(str(lines[-1][0])) if lines else 0
    for position, (number, words) in enumerate(lines):
        if number == line:
            here = position
        mark, style = (">", "bold reverse") if number == line else (" ", "")
        text.append(f"{mark} {number:>{wide}}  {words}\n", style)
    return text, here


def place(lines: list[str]) -> tuple[str, int]:
    """File and line of the innermost frame of a stack."""
    if not lines:
        return "", 0
    file, _, number = lines[0].rpartition("  ")[2].rpartition(":")
    return (file, int(number)) if number.isdigit() else ("", 0)


def own_places(lines: list[str]) -> list[tuple[str, int]]:
    """Of the frames, innermost first: the program's own before those of torch and Python, in which it only waits."""
    places = [place([line]) for line in lines]
    return sorted(places, key=lambda one: not one[0] or bool(_INSTALLED.search(one[0]))) or [("", 0)]


def diverged(calls: Sequence[CallRow]) -> int | None:
    """The call at which the ranks diverged."""
    return next((row for row, call in enumerate(calls) if call.diverged), None)


def unfinished(calls: Sequence[CallRow]) -> int | None:
    """The first call that did not end."""
    return next((row for row, call in enumerate(calls) if not ended(call)), None)


def ended(call: CallRow) -> bool:
    """Nothing of it is under way: it is done, or was never begun."""
    return call.state in _DONE


def culprit(ranks: Sequence[RankRow], after: int) -> int | None:
    """The next culprit or suspect below that row, or else the first."""
    blamed = [row for row, one in enumerate(ranks) if one.role in ("culprit", "suspect")]
    return next((row for row in blamed if row > after), blamed[0] if blamed else None)


def rank(ranks: Sequence[RankRow], number: int) -> int | None:
    return next((row for row, one in enumerate(ranks) if one.rank == number), None)


def match(calls: Sequence[CallRow], wanted: str, at: int, step: int) -> int | None:
    """The call with these words: here or below (0), the next one (1), the one before (-1), round the end."""
    found = [row for row, call in enumerate(calls) if call.has(wanted)]
    if not found:
        return None
    if step < 0:
        return next((row for row in reversed(found) if row < at), found[-1])
    return next((row for row in found if row >= at + step), found[0])
