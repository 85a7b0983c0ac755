"""The pages of the causes: what each means, its picture, its answer in the lab; and the navigation."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from rankandfile.model.causes import CAUSES, FAMILIES, Cause
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.card import card
from rankandfile.render.words import UNICODE

from .pictures import picture
from .record import Recorded, read

ROOT = Path(__file__).parents[2]
FILES = "src/rankandfile/reason/causes"
_WIDTH = 100


def page(word: str) -> str:
    cause = CAUSES[word]
    family = FAMILIES[cause.family].lower()
    parts = [
        f"# {cause.title}",
        f"<!-- Generated from {FILES}/{word}.py: `make docs`. -->",
        f"`{word}` · [{family}](index.md#{family.replace(' ', '-')})",
        f"**{cause.meaning}** {cause.help}",
        cause.page.strip(),
        *_lab(cause),
        *_advice(cause),
    ]
    return "\n\n".join(parts) + "\n"


def shown_causes() -> list[str]:
    """Those with a recorded hang of the lab."""
    return [word for word in CAUSES if read(word) is not None]


def svg(word: str) -> str:
    recorded = read(word)
    assert recorded is not None
    return picture(recorded.diagnosis, recorded.waits)


def index() -> str:
    lines = [
        "# Causes",
        "",
        "A verdict names one of these. The name is what `--format json` has in `cause`. How often each is found is "
        "in [accuracy](../accuracy.md).",
        "",
        f"This page is generated from `{FILES}`.",
    ]
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}", "", "| cause | what happened |", "| --- | --- |"]
        lines += [
            f"| [`{word}`]({word}.md) | {cause.meaning} |"
            for word, cause in CAUSES.items()
            if cause.family == family
        ]
    return "\n".join(lines) + "\n"


def navigation() -> str:
    """The site's settings with the pages of the causes, family by family."""
    lines = []
    for family, title in FAMILIES.items():
        lines.append(f"      - {title}:")
        of_it = (word for word, cause in CAUSES.items() if cause.family == family)
        lines += [f"          - {word}: causes/{word}.md" for word in of_it]
    before, begin, rest = (
        (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("      - causes/index.md\n")
    )
    return f"{before}{begin}{chr(10).join(lines)}\n  - Reference:{rest.partition('  - Reference:')[2]}"


def between(text: str, name: str, new: str, indent: str = "") -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{new}\n{indent}{end}{rest.partition(end)[2]}"


def shown(diagnosis: Diagnosis) -> str:
    """The card as a terminal without colour shows it."""
    file = io.StringIO()
    console = Console(file=file, width=_WIDTH, highlight=False, color_system=None, force_terminal=False)
    console.print(card(diagnosis, UNICODE, _WIDTH))
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))


def _lab(cause: Cause) -> list[str]:
    recorded = read(cause.word)
    if recorded is None:
        return []
    said = recorded.diagnosis.verdicts[0].cause
    beside = [f"The verdict says [`{said}`]({said}.md), and names `{cause.word}` beside it."]
    return [
        "## One from the lab",
        _origin(recorded),
        *(beside if said != cause.word else []),
        f"![Where the ranks went different ways, and who waits for whom: {cause.word}]({cause.word}.svg)",
        "\n".join(["```console", *_commands(recorded), shown(recorded.diagnosis), "```"]),
    ]


def _advice(cause: Cause) -> list[str]:
    parts = []
    if cause.remedies:
        lines = [f"* **{remedy.title}.** {remedy.text}" for remedy in cause.remedies]
        parts += ["## What to do", "\n".join(lines)]
    if cause.anti_advice:
        parts += ["## What not to do", "\n".join(f"* {advice}" for advice in cause.anti_advice)]
    return parts


def _origin(recorded: Recorded) -> str:
    kind = "a real job on gloo that really hung" if recorded.real else "a job on NCCL that the lab simulates"
    part = recorded.evidence.partition("/")[2]
    given = f" Here only its {part} are read." if part else ""
    return f"{recorded.title}: scenario `{recorded.scenario}` of the [lab](../lab.md), {kind}.{given}"


def _commands(recorded: Recorded) -> list[str]:
    folder = f"incident/{recorded.scenario}"
    source = f" --src {folder}/src" if recorded.source else ""
    return [
        f"$ raf lab run {recorded.scenario} --keep incident",
        "...",
        f"$ raf diagnose {folder}/{recorded.evidence}{source}",
    ]
