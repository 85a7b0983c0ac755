"""Who is to blame, and who only waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.ranks import parse_ranks
from rankandfile.render.words import alike_culprits, ranks_named, short

from .sheet import Sheet


def parts(sheet: Sheet) -> Iterator[tuple[str, Sequence[RenderableType]]]:
    verdict = sheet.verdict
    if verdict.culprits:
        yield "culprit", _culprits(sheet)
    if verdict.victims:
        many = len(parse_ranks(verdict.victims))
        count = f"  ({many:,} ranks)" if many > 1 else ""
        yield "victims", [sheet.text(short(verdict.victims, sheet.signs), count)]


def _culprits(sheet: Sheet) -> list[Text]:
    alike = alike_culprits(sheet.verdict)
    lines = []
    for ranks, host, doing in alike[: sheet.room.culprits]:
        said = (f" on {host}" if host else "", f": {doing}" if doing else "")
        lines.append(sheet.text(ranks_named(ranks, sheet.signs), *said, style="bold"))
    return [*lines, *sheet.more(len(alike) - sheet.room.culprits, "kind of culprits", "kinds of culprits")]
