"""What stands in the panes, as text: the verdict, a stack, the source around a line."""

from __future__ import annotations

from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.render.words import headline, plain

_MOST_OF_SENTENCE = 600


def verdict(diagnosis: Diagnosis) -> Text:
    if not diagnosis.verdicts:
        return Text("no verdict")
    best = diagnosis.verdicts[0]
    sentence = plain(best.sentence)[:_MOST_OF_SENTENCE]
    return Text.assemble((headline(best), "bold"), f"  {best.confidence}  ", sentence)


def stack(lines: list[str]) -> Text:
    return Text("\n".join(plain(line) for line in lines) or "no stack was recorded", no_wrap=False)


def source(lines: list[tuple[int, str]], file: str, line: int) -> tuple[Text, int]:
    """The lines with the one that counts marked, and which of them that is."""
    text = Text(no_wrap=True)
    if not lines:
        text.append("not at hand: name the job's source with --src DIR" if file else "no place was recorded")
    here = 0
    for position, (number, words) in enumerate(lines):
        if number == line:
            here = position
        mark, style = (">", "bold reverse") if number == line else (" ", "")
        text.append(f"{mark}{number:>5}  {words}\n", style)
    return text, here


def place(lines: list[str]) -> tuple[str, int]:
    """File and line of the innermost frame of a stack."""
    if not lines:
        return "", 0
    file, _, number = lines[0].rpartition("  ")[2].rpartition(":")
    return (file, int(number)) if number.isdigit() else ("", 0)
