"""What a model added to an investigation, what it claimed without support, and what it used up."""

from __future__ import annotations

import msgspec

from rankandfile.model.diagnosis import Confidence

CONCLUDED, INTERRUPTED = "concluded", "it was interrupted"


class Dropped(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    why: list[str]


class ModelVerdict(msgspec.Struct, frozen=True, kw_only=True):
    accepted: bool
    stance: str
    """confirms, refines or disagrees: held against what the rules conclude, not the model's own word."""
    cause: str
    culprits: str
    confidence: Confidence
    file: str | None = None
    line: int | None = None
    condition: str | None = None
    evidence: list[str] = []
    step: str = ""
    """The step in which it was held against the case."""
    why_not: list[str] = []


class Spent(msgspec.Struct, kw_only=True):
    requests: int = 0
    steps: int = 0
    """Questions to tools."""
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    """The server did not tell what was used: counted by the length of the text."""
    cost: float | None = None
    """In US dollars; null: the price is not known."""
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Account(msgspec.Struct, kw_only=True):
    model: str
    destination: str
    """Host that was asked."""
    redacted: bool
    ended: str = CONCLUDED
    """`concluded`, or why it did not."""
    findings: list[str] = []
    """Checked: each is supported by what it cites."""
    dropped: list[Dropped] = []
    """Claimed without support, also after it was asked again."""
    sent_back: int = 0
    """Claims that were sent back with the reason."""
    verdict: ModelVerdict | None = None
    fix: str | None = None
    """A diff that fits the source; nobody has run it yet."""
    spent: Spent = msgspec.field(default_factory=Spent)

    @property
    def interrupted(self) -> bool:
        return self.ended == INTERRUPTED
