"""The generated parts of the pages of the causes: what each means, its picture and its answer in the lab."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from rankandfile.model.diagnosis import CAUSES, Diagnosis
from rankandfile.reason.verdict.remedies import ANTI_ADVICE, REMEDIES
from rankandfile.render.card import card
from rankandfile.render.meanings import MEANINGS
from rankandfile.render.words import UNICODE

from .pictures import picture
from .record import Recorded, read

FOLDER = Path(__file__).parents[1] / "causes"

FAMILIES = {
    "paths": "Ranks took different paths",
    "arguments": "Arguments differ",
    "host": "A host did not get there",
    "process": "A process is gone",
    "device": "The device",
    "fabric": "The fabric",
    "start_and_end": "Start and end",
    "not_a_fault": "Not a fault",
    "honesty": "Honesty",
}
_WIDTH = 100


def page(cause: str) -> str:
    path = FOLDER / f"{cause}.md"
    text = between(path.read_text(encoding="utf-8"), "meaning", _meaning(cause))
    return between(text, "lab", _lab(cause))


def svg(cause: str) -> str:
    recorded = read(cause)
    return picture(recorded.diagnosis, recorded.waits)


def index() -> str:
    lines = [
        "# Causes",
        "",
        "A verdict names one of these. The name is what `--format json` has in `cause`. How often each is found is "
        "in [accuracy](../accuracy.md).",
        "",
        "This page is generated from `src/rankandfile/render/meanings.py`.",
    ]
    for family, title in FAMILIES.items():
        lines += ["", f"## {title}", "", "| cause | what happened |", "| --- | --- |"]
        lines += [
            f"| [`{cause}`]({cause}.md) | {MEANINGS[cause].short} |"
            for cause in CAUSES
            if CAUSES[cause] == family
        ]
    return "\n".join(lines) + "\n"


def between(text: str, name: str, new: str) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{new}\n{end}{rest.partition(end)[2]}"


def shown(diagnosis: Diagnosis) -> str:
    """The card as a terminal without colour shows it."""
    file = io.StringIO()
    console = Console(file=file, width=_WIDTH, highlight=False, color_system=None, force_terminal=False)
    console.print(card(diagnosis, UNICODE, _WIDTH))
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))


def _meaning(cause: str) -> str:
    family = FAMILIES[CAUSES[cause]].lower()
    meaning = MEANINGS[cause]
    lines = [
        f"`{cause}` · [{family}](index.md#{family.replace(' ', '-')})",
        "",
        f"**{meaning.short}** {meaning.help}",
    ]
    return "\n".join(lines)


def _lab(cause: str) -> str:
    recorded = read(cause)
    verdict = recorded.diagnosis.verdicts[0]
    lines = ["## One from the lab", "", _origin(recorded)]
    if verdict.cause != cause:
        lines += [
            "",
            f"The verdict says [`{verdict.cause}`]({verdict.cause}.md), and names `{cause}` beside it.",
        ]
    lines += ["", f"![Where the ranks parted, and who waits for whom: {cause}]({cause}.svg)"]
    lines += ["", "```console", *_commands(recorded), shown(recorded.diagnosis), "```"]
    if REMEDIES.get(cause):
        lines += ["", "## What to do", ""]
        lines += [f"* **{remedy.title}.** {remedy.text}" for remedy in REMEDIES[cause]]
    if ANTI_ADVICE.get(cause):
        lines += ["", "## What not to do", ""]
        lines += [f"* {advice}" for advice in ANTI_ADVICE[cause]]
    return "\n".join(lines)


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
