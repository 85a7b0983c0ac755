"""The block of a set of found evidence on the page of first contacts."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.lab.blind.page import head
from rankandfile.lab.score.tally import share

from .marks import MARKS, FoundMarks
from .scoring import FoundRound


def block(done: FoundRound) -> str:
    return "\n".join(_lines(done)) + "\n"


def _lines(done: FoundRound) -> Iterator[str]:
    marks = done.marks
    count = {mark: sum(one.mark == mark for one in marks) for mark in MARKS}
    useful = share([one.mark in ("right", "partly") for one in marks])
    yield from head(done, f"Found evidence: {len(marks)} folders without a program")
    yield (
        f"* Right or partly right {useful}: "
        + ", ".join(f"{number} {mark}" for mark, number in count.items())
        + "."
    )
    yield (
        f"* Hang or not {share([one.hang for one in marks])}; culprits {share([one.culprits for one in marks])}; "
        + (
            f"cause {share([one.cause for one in marks])}; line {share([one.line for one in marks])}; "
            f"innocents blamed in {sum(bool(one.innocents) for one in marks)}; "
            f"untrue sentences in {sum(bool(one.untrue) for one in marks)}; "
            f"{sum(one.seconds for one in marks) / max(1, len(marks)):.1f} s each."
        )
    )
    yield ""
    yield "| folder | form | mark | what is not right |"
    yield "| --- | --- | --- | --- |"
    for one in marks:
        yield f"| {one.case} | {_cell(one.form)} | {one.mark} | {_cell(wrong(one))} |"


def wrong(one: FoundMarks) -> str:
    """What was not right, in words; empty if all was."""
    words = [name for name in ("hang", "culprits", "cause", "line") if getattr(one, name) is False]
    words += [f"blamed {', '.join(map(str, one.innocents))}"] if one.innocents else []
    words += [f"untrue: {', '.join(one.untrue)}"] if one.untrue else []
    words += [f"lacks {', '.join(one.lacks)}"] if one.lacks else []
    words += [f"no answer ({one.failed})"] if one.failed else []
    return "; ".join(words)


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|").replace("<", "&lt;")
