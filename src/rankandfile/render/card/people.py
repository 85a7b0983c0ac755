"""Who is to blame, and who only waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.render.words import ranks_named, short

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
    """Those that did the same on one host in one line."""
    alike: dict[tuple[str, str], list[int]] = {}
    for one in sheet.verdict.culprits:
        alike.setdefault((one.host or "", one.doing or ""), []).append(one.rank)
    lines = []
    for (host, doing), ranks in list(alike.items())[: sheet.room.culprits]:
        who = ranks_named(format_ranks(ranks), sheet.signs)
        said = (f" on {host}" if host else "", f": {doing}" if doing else "")
        lines.append(sheet.text(who, *said, style="bold"))
    return [*lines, *sheet.more(len(alike) - sheet.room.culprits, "kind of culprits", "kinds of culprits")]
