"""The code around the divergence, with a column for each cohort: what it went over, and where it went."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Excerpt, ExcerptLine, Location, Verdict

from .words import PLAIN, UNICODE, Signs, plain, short

#: Cohorts by letter; what the colour says, the letter says too.
_LETTERS = "ABCDEFGH"
_NORMAL, _CULPRIT = "green", "bold red"
_MARKS = {"condition": "? ", "call": "> ", "": "  "}


def drawn(verdict: Verdict, signs: Signs = UNICODE) -> RenderableType:
    """Every excerpt of the verdict, one below the other."""
    parts: list[RenderableType] = []
    for excerpt in verdict.excerpts:
        if parts:
            parts.append(Text())
        parts.append(_title(excerpt))
        parts.extend(draw(excerpt, signs, stands_at(excerpt, verdict.location)))
    if not parts:
        return Text("The source shows no place for this verdict.")
    if any(excerpt.cohorts for excerpt in verdict.excerpts):
        parts.append(Text("? the condition   > a call that a cohort made next", style="dim"))
    return Group(*parts)


def stands_at(excerpt: Excerpt, where: Location | None) -> int | None:
    """The line to point at where no ways part: where a host stands, or a process ended."""
    if where is None or where.file != excerpt.file or any(line.mark for line in excerpt.lines):
        return None
    return where.line


def shortened(excerpt: Excerpt, most: int, width: int, signs: Signs, here: int | None) -> Excerpt:
    """As many lines as there is room for: the marked ones first, then those next to them. Long ones are cut."""
    lines = enumerate(excerpt.lines)
    marked = [number for number, line in lines if line.mark or line.number == here] or [0]
    near = sorted(range(len(excerpt.lines)), key=lambda here: (min(abs(here - at) for at in marked), here))
    kept = [excerpt.lines[number] for number in sorted(near[:most])]
    return replace(excerpt, lines=[replace(line, text=_cut(line.text, width, signs)) for line in kept])


def _cut(text: str, width: int, signs: Signs) -> str:
    text = text.expandtabs(4)
    # As much for both kinds of signs.
    return text if len(text) <= width else text[: width - len(PLAIN.more)] + signs.more


def _title(excerpt: Excerpt) -> Text:
    title = Text(plain(excerpt.file), style="bold")
    if excerpt.function:
        title.append(plain(f" in {excerpt.function}"), style="not bold")
    return title


def draw(excerpt: Excerpt, signs: Signs = UNICODE, here: int | None = None) -> Iterator[RenderableType]:
    """Who goes which way, and the lines."""
    for number, ranks in enumerate(excerpt.cohorts):
        many = "rank" if ranks.partition(" ")[0].isdigit() else "ranks"
        yield Text(f"{_letter(number)}  {many} {short(ranks, signs)}", style=_style(excerpt, number))
    if excerpt.note:
        yield Text(plain(f"! {excerpt.note}"), style="yellow")
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    before: int | None = None
    for line in excerpt.lines:
        if before is not None and line.number != before + 1:
            table.add_row("", signs.more, "", "")
        table.add_row(
            _ways(excerpt, line),
            str(line.number),
            Text(_MARKS["call" if line.number == here else line.mark], style="bold"),
            _code(excerpt, line, here),
        )
        before = line.number
    yield table


def _ways(excerpt: Excerpt, line: ExcerptLine) -> Text:
    columns = Text()
    for number in range(len(excerpt.cohorts)):
        over = number in line.cohorts
        columns.append(_letter(number) if over else " ", style=_style(excerpt, number) if over else None)
    return columns


def _code(excerpt: Excerpt, line: ExcerptLine, here: int | None) -> Text:
    if line.mark == "condition" or line.number == here:
        style = "bold"
    else:
        style = _style(excerpt, line.cohorts[0]) if len(line.cohorts) == 1 else ""
    return Text(plain(line.text.expandtabs(4)), style=style)


def _letter(number: int) -> str:
    return _LETTERS[number] if number < len(_LETTERS) else "*"


def _style(excerpt: Excerpt, number: int) -> str:
    return _CULPRIT if number == len(excerpt.cohorts) - 1 else _NORMAL
