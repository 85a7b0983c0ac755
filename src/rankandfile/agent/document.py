"""`investigation.md`: a post-mortem in which every sentence cites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rankandfile.render.markdown import code, fenced, text
from rankandfile.render.words import cause_words

from .bench import Bench
from .journal import PLAYBOOK, Journal
from .prose import CITATION, cited

_MOST_CITED = 5


@dataclass
class Section:
    title: str
    blocks: list[str] = field(default_factory=list)

    def say(self, words: str, ids: Sequence[str]) -> None:
        """One bullet. What it cites is its first few ids, and always the last: the step that found it."""
        known = [one for one in dict.fromkeys(ids) if one]
        if known and words.strip():
            # A path keeps its letters.
            upper = words[:1].upper() + words[1:] if words.split()[0].isalpha() else words
            self.blocks.append(f"- {cited(upper, [*known[:-1][: _MOST_CITED - 1], known[-1]])}")

    def quote(self, path: str, lines: list[str], first: int, last: int) -> None:
        low, high = max(1, first), min(len(lines), last)
        self._verbatim(lines[low - 1 : high], f"python {path}:{low}-{high}")

    def diff(self, diff: str) -> None:
        self._verbatim(diff.splitlines(), "diff")

    def _verbatim(self, lines: Sequence[str], info: str) -> None:
        self.blocks.append(f"\n{fenced(lines, info)}\n")


@dataclass
class Document:
    sections: list[Section] = field(default_factory=list)
    title: str = ""

    def section(self, title: str) -> Section:
        self.sections.append(Section(title))
        return self.sections[-1]

    def close(self, bench: Bench, journal: Journal) -> None:
        """The title, the facts that were cited, and the steps that were taken."""
        first = next(iter(bench.diagnosis.verdicts), None)
        self.title = "Investigation" if first is None else f"Investigation: {_title(first.cause)}"
        ids = dict.fromkeys(
            one
            for section in self.sections
            for block in section.blocks
            for found in CITATION.finditer(block)
            for one in found[1].split(", ")
        )
        facts = self.section("The evidence")
        for one in ids:
            fact = bench.case.evidence(one)
            if fact is not None:
                quoted = code(f"{fact.source}, {fact.where}: {fact.quote}".replace("`", "'"))
                facts.blocks.append(f"- {quoted} [{one}]")
        steps = self.section("The steps")
        for step in journal.steps:
            if step.refused is not None:
                continue
            more = "" if step.more is None else ", and there was more"
            asked = "" if step.by == PLAYBOOK else ", as the model asked"
            steps.blocks.append(f"- The answer to {text(step.tool)}{asked}{more}. [{step.step}]")

    def markdown(self) -> str:
        parts = [f"# {text(self.title)}"] if self.title else []
        for section in self.sections:
            if section.blocks:
                parts += [f"## {section.title}", "\n".join(section.blocks)]
        return "\n\n".join(parts) + "\n"


def _title(cause: str) -> str:
    """Without ranks: a title cites nothing, so that it claims nothing."""
    return "cause open" if cause == "undetermined" else cause_words(cause)
