"""The steps of an investigation as they were taken: tool, arguments, and a digest of what came back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import msgspec

from . import registry
from .bench import Bench
from .result import Line, Result

PLAYBOOK = "playbook"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `investigation.jsonl`."""

    step: str
    """Its id, which a sentence can cite: T3."""
    tool: str
    arguments: dict[str, Any]
    digest: str
    """SHA-256 of the answer's text."""
    evidence: list[str]
    more: int | None
    by: str = PLAYBOOK
    refused: str | None = None
    """Why there is no answer; such a step cannot be cited."""


@dataclass
class Journal:
    bench: Bench
    steps: list[Step] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    """Step id -> its answer."""
    by: str = PLAYBOOK
    """Who asks now."""

    def ask(self, tool: str, **arguments: Any) -> tuple[str, tuple[Line, ...]]:
        """The step's id, and the lines of the answer. Raises `ToolError`."""
        page = registry.call(self.bench, tool, arguments)
        name, result = self.next, page.result
        self.results[name] = result
        self.steps.append(
            Step(
                step=name,
                tool=tool,
                arguments=arguments,
                digest=f"sha256:{hashlib.sha256(result.text.encode('utf-8', 'replace')).hexdigest()}",
                evidence=result.evidence,
                more=result.more,
                by=self.by,
            )
        )
        return name, page.lines

    def refuse(self, tool: str, arguments: dict[str, Any], why: str) -> None:
        """A question that was not answered, for whoever audits."""
        self.steps.append(
            Step(
                step=self.next, tool=tool, arguments=arguments, digest="", evidence=[], more=None, by=self.by,
                refused=why,
            )
        )  # fmt: skip

    @property
    def next(self) -> str:
        return f"T{len(self.steps) + 1}"

    def to_jsonl(self) -> bytes:
        return b"".join(msgspec.json.encode(step) + b"\n" for step in self.steps)
