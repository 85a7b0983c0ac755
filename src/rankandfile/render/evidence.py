"""Facts with their places: id, file and line, what stands there, and the lines around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from rankandfile.model.ledger import Evidence

from .words import UNICODE, Signs, plain

#: Number, text, and whether it is the line itself.
Context = Sequence[tuple[int, str, bool]]


def facts(shown: Iterable[tuple[Evidence, Context]], signs: Signs = UNICODE) -> RenderableType:
    parts: list[RenderableType] = []
    for fact, context in shown:
        title = Text.assemble((plain(fact.id), "bold"), plain(f"  {fact.source}, {fact.where}"))
        said = any(here and plain(fact.quote).strip() in plain(text) for _, text, here in context)
        parts += [title, *([] if said else [_indented(fact.quote)]), *_context(context, signs)]
    return Group(*parts)


def _indented(quote: str) -> RenderableType:
    return Padding(Text(plain(quote)), (0, 0, 0, 4), expand=False)


def _context(context: Context, signs: Signs) -> list[RenderableType]:
    widest = max(len(str(number)) for number, _, _ in context) if context else 0
    return [
        Padding(
            Text(
                plain(f"{signs.then if here else ' '} {number:>{widest}}  {text.expandtabs(4)}"),
                style="bold" if here else "dim",
                overflow="fold",
            ),
            (0, 0, 0, 2),
            expand=False,
        )
        for number, text, here in context
    ]
