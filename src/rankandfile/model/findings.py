"""What the source adds to verdicts: the noun that `source` hands over, and that the table of precedence merges."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from .diagnosis import Excerpt, Location
from .ledger import Note
from .sentence import Sentence


class NamedByCode(Struct, frozen=True, kw_only=True):
    """Whom the code names where the evidence names nobody: `rank == 2` gives one rank another root."""

    ranks: tuple[int, ...]
    doing: str
    """What each of them did, as a person would say it: 'took itself for the root'."""
    sentence: str
    cause: str | None = None
    """What they did, where the evidence has two causes open for two sides; None: the verdict's stays."""
    evidence: tuple[str, ...] = ()
    """What shows it, beside the code."""


class Implied(Struct, frozen=True):
    """A collective that its line does not name."""

    op: str
    file: str
    """Without its folders."""
    line: int
    by: str
    """What makes it there, in words."""


Statement: TypeAlias = Literal["", "loop", "handler"]
"""What decided: whether a loop goes round once more, or that a handler took an exception; empty: anything else."""


class SourceFinding(Struct, frozen=True, kw_only=True):
    """What the source says of one verdict: the line, whom it names, and the cause that it shows."""

    location: Location
    decided_by: Statement = ""
    excerpts: tuple[Excerpt, ...] = ()
    sentence: Sentence = ""
    """Of the line, and why the ranks can differ there; empty where the evidence has said it all."""
    named: NamedByCode | None = None
    as_many: bool = False
    """Each rank's own data decided it, and as many went one way as the other: who did as in the rounds before is not
    thereby right, nor who did not to blame."""
    causes: tuple[str, ...] = ()
    """What evidence and code agree on as the cause, each more exact than the one before; none: the verdict's stays."""
    implied: tuple[Implied, ...] = ()
    """Of the calls that the ranks came to instead of one another."""


class SourceFindings(Struct, frozen=True, kw_only=True):
    """What the source says of a diagnosis."""

    of_verdicts: tuple[SourceFinding | None, ...]
    """One per verdict, in their order; None: the source was asked, and supports no answer."""
    notes: tuple[Note, ...] = ()
    """What of the source does not match what ran, or could not be told apart."""
