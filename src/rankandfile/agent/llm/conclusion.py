"""The end of a model's investigation: what it hands in, and what of it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from rankandfile.agent.bench import Bench
from rankandfile.agent.diff import Misfit, changed
from rankandfile.agent.journal import Journal
from rankandfile.agent.tool import ToolError
from rankandfile.model.diagnosis import Confidence

from .account import Dropped, ModelVerdict
from .discipline import CONCLUDE
from .findings import problems_of
from .verdict import held

_MOST_FINDINGS = 30
_LONGEST_FIX = 40_000
_PROPOSAL = ("cause", "culprits", "confidence", "file", "line", "condition", "evidence")


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    findings: list[str] = []
    """Each one or two sentences, each sentence with its citations, or one code block that says where it is from."""
    cause: str | None = None
    culprits: str = ""
    confidence: Confidence = "hypothesis"
    file: str | None = None
    line: int | None = None
    condition: str | None = None
    evidence: list[str] = []
    tests: list[str] = []
    fix: str | None = None


DESCRIPTION = (
    "Ends the investigation. findings: a few sentences that add to the draft, each with its citations. cause, culprits "
    "(3 or 0-6,8), confidence, file, line, condition (as written at that line) and evidence (ids about the culprits): "
    "your verdict, or leave them out. tests: steps of test_hypothesis that carry it. fix: a unified diff against the "
    "source tree, or leave it out."
)


def schema() -> dict[str, Any]:
    whole = msgspec.json.schema(Conclusion)
    own: dict[str, Any] = whole["$defs"]["Conclusion"]
    return {key: value for key, value in own.items() if key not in ("title", "description")}


@dataclass
class Judged:
    findings: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    verdict: ModelVerdict | None = None
    fix: str | None = None

    @property
    def clean(self) -> bool:
        return not self.dropped and (self.verdict is None or self.verdict.accepted)

    def complaint(self) -> str:
        """What is sent back, with the reasons."""
        lines = [f"- {one.text}\n  {'; '.join(one.why)}" for one in self.dropped]
        if self.verdict is not None and not self.verdict.accepted:
            lines.append(f"- your verdict: {'; '.join(self.verdict.why_not)}")
        return (
            "Not supported by what it cites:\n"
            + "\n".join(lines)
            + f"\n{len(self.findings)} findings hold. Look "
            f"again with the tools, or call {CONCLUDE} again with only what you can support, the findings that hold "
            "included."
        )


def parsed(arguments: dict[str, Any]) -> Conclusion:
    """Raises `ToolError` with a sentence that the model can act on."""
    try:
        return msgspec.convert(arguments, Conclusion, strict=False)
    except msgspec.ValidationError as error:
        raise ToolError(f"{CONCLUDE}: {error}") from error


def judged(bench: Bench, journal: Journal, conclusion: Conclusion) -> Judged:
    found = Judged()
    if conclusion.cause is not None:
        found.verdict = held(
            bench,
            journal,
            {name: getattr(conclusion, name) for name in _PROPOSAL},
            conclusion.tests,
        )
    for text in conclusion.findings[:_MOST_FINDINGS]:
        why = problems_of(text, bench, journal.results)
        if why:
            found.dropped.append(Dropped(text=text, why=why))
        elif text.strip():
            found.findings.append(text)
    found.dropped += [
        Dropped(text=text, why=[f"more than {_MOST_FINDINGS} findings"])
        for text in conclusion.findings[_MOST_FINDINGS:]
    ]
    if conclusion.fix and conclusion.fix.strip():
        try:
            if len(conclusion.fix) > _LONGEST_FIX:
                raise Misfit("it is too long")
            changed(bench, conclusion.fix)
            found.fix = conclusion.fix
        except Misfit as error:
            found.dropped.append(Dropped(text="the proposed fix", why=[str(error)]))
    return found
