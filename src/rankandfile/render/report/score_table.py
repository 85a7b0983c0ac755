"""The score around the divergence as a table of words: for those who cannot see the canvas, and for paper."""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.pictures import STATES_OF_CELLS, Score, Sheet, Track

_BEFORE, _AFTER = 3, 2
_MOST_ROWS = 16


class ScoreTable(Struct, frozen=True):
    title: str
    columns: list[str]
    rows: list[tuple[Track, list[str]]]
    left_out: int
    """Rows that are not in the table."""


def score_table(score: Score, sheet: Sheet) -> ScoreTable:
    last = sheet.first + sheet.columns - 1
    middle = next((n for n in (sheet.diverged_at, sheet.focus) if n is not None), last)
    first = max(sheet.first, middle - _BEFORE)
    numbers = range(first, min(last, middle + _AFTER) + 1)
    rows = [
        (track, [_cell(score, sheet, track, number) for number in numbers])
        for track in sheet.tracks[:_MOST_ROWS]
    ]
    mark = "#" if sheet.numbered_by == "seq" else "call "
    return ScoreTable(
        sheet.title, [f"{mark}{number}" for number in numbers], rows, max(0, len(sheet.tracks) - _MOST_ROWS)
    )


def _cell(score: Score, sheet: Sheet, track: Track, number: int) -> str:
    at = 2 * (number - sheet.first)
    cell = int.from_bytes(track.cells[at : at + 2], "little")
    if not cell:
        return "none"
    kind, state = divmod(cell - 1, 4)
    site = score.kinds.site[kind]
    place = ""
    if site is not None:
        name = score.frames.file[site].replace("\\", "/").rsplit("/", 1)[-1]
        place = f" {name}:{score.frames.line[site]}"
    return f"{score.kinds.op[kind]}{place}, {STATES_OF_CELLS[state]}"
