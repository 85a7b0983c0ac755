"""``raf explain``: what a cause means, without a case at hand."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from rankandfile.cli.errors import UserError
from rankandfile.cli.names import cause_names
from rankandfile.cli.output import TextFile, TextOrJson, TextOrJsonOption, as_json, show, write_text
from rankandfile.cli.panels import DIAGNOSE

if TYPE_CHECKING:
    from rankandfile.model.causes import Cause

PANEL = DIAGNOSE
ORDER = 15
EXAMPLES = ("raf explain early_exit", "raf explain 'size mismatch'", "raf explain")


def explain(
    cause: Annotated[
        str | None,
        Argument(help="As a verdict names it. Without one: all causes.", autocompletion=cause_names),
    ] = None,
    format: TextOrJsonOption = TextOrJson.text,
    output: TextFile = None,
) -> None:
    """What a cause means: how a job comes to hang by it, what to do, and what not to do."""
    from rankandfile.model.causes import CAUSES

    chosen = list(CAUSES.values()) if cause is None else [CAUSES[_word(cause)]]
    if as_json(format, output):
        from rankandfile.model.document import pretty

        rows = [
            {"cause": one.word, "family": one.family, "meaning": one.meaning, "help": one.help}
            for one in chosen
        ]
        write_text(pretty(rows).decode() + "\n", output)
        return
    show("\n".join(_all(chosen) if cause is None else _one(chosen[0])), output)


def _word(said: str) -> str:
    """The cause that somebody means: `EARLY EXIT` off a card, too."""
    known = cause_names("")
    plain = re.sub(r"[\W_]+", "_", said.strip().lower()).strip("_")
    if plain in known:
        return plain
    near = [one for one in known if plain and plain in one] or difflib.get_close_matches(plain, known)
    raise UserError(
        f"no cause '{said}': " + (f"perhaps {', '.join(near[:3])}?" if near else "raf explain lists them")
    )


def _all(causes: list[Cause]) -> Iterator[str]:
    from rankandfile.model.causes import FAMILIES

    family = ""
    for one in causes:
        if one.family != family:
            family = one.family
            yield f"\n{FAMILIES[one.family]}"
        yield f"  {one.word:<22} {one.meaning}"


def _one(cause: Cause) -> Iterator[str]:
    yield f"{cause.word}: {cause.meaning}"
    yield cause.help
    yield from (f"\n{part}" for part in _paragraphs(cause.page))
    if cause.remedies:
        yield "\nWhat to do"
        yield from (f"* {one.title}: {one.text}" for one in cause.remedies)
    if cause.anti_advice:
        yield "\nWhat not to do"
        yield from (f"* {one}" for one in cause.anti_advice)
    if cause.scenario:
        yield f"\nTo see one: raf lab run {cause.scenario}"


def _paragraphs(page: str) -> Iterator[str]:
    """The page for a terminal: code as it is, of links their words."""
    for part in re.split(r"(```.*?```)", page.strip(), flags=re.DOTALL):
        if part.startswith("```"):
            yield "\n".join(f"    {line}" for line in part.splitlines()[1:-1])
            continue
        for paragraph in re.split(r"\n\s*\n", part.strip()):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
            listed = plain.lstrip().startswith(("* ", "|", "1."))
            yield plain.lstrip("# ") if listed else " ".join(plain.lstrip("# ").split())
