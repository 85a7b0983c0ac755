"""One statement of what happened: a cause, whom it names, its evidence, how sure it is, what would overturn it.

Every source of a verdict adds its own; which of them is believed is the table of `precedence`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from rankandfile.model.claims import Claim
from rankandfile.model.diagnosis import Alternative, Confidence, Divergence, Location, Missing
from rankandfile.model.sentence import Sentence
from rankandfile.reason.claims.wait_row import WaitRow


class Finding(Struct, frozen=True, kw_only=True):
    cause: str
    confidence: Confidence
    sentence: Sentence
    culprits: tuple[int, ...] = ()
    doing: dict[int, str] = field(default_factory=dict)
    divergence: Divergence | None = None
    location: Location | None = None
    evidence: tuple[str, ...] = ()
    contradicted_by: str = ""
    """What, if it were found, would overturn the finding."""
    alternatives: tuple[Alternative, ...] = ()
    missing: tuple[Missing, ...] = ()
    hang: bool | None = True
    """None: it is the story if the job hung, which nothing shows, or the job ended of this: whether it hung before,
    nothing tells."""
    holds_if_hung: bool = False
    """It was found as if the job hung, and its sentence says that nothing shows it."""
    ordinary: bool = False
    """The wait was no longer than those of the job before it, when somebody looked."""
    instead_of: str = ""
    """The cause whose finding this one contains: that one alone would say less."""
    explains: int = -1
    """How many ranks' waits it explains; -1: of all that wait in the end that it is found of."""
    victims: tuple[int, ...] = ()
    """Ranks that only wait."""
    waits: tuple[WaitRow, ...] = ()
    """Who waits for whom, the first wait first."""
    claims: tuple[Claim, ...] = ()
    """What its words rest on, beside its waits and its divergence."""
    assumed: str = ""
    """What is taken for true because nothing tells it."""
    unadvised: tuple[Literal["anti_advice", "probes"], ...] = ()
    """Advice on its cause that is not given with it: it does not know enough of the ranks for that."""
