"""What is believed of a job, and the verdict that is written of it, once everybody has added to it.

The table of precedence believes a finding, and the program's code may add to that (`with_code`). Only then it becomes a
verdict, here and nowhere else: nobody changes a verdict that is made.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rankandfile.model.causes import CAUSES
from rankandfile.model.claims import Claim
from rankandfile.model.diagnosis import Culprit, Excerpt, Verdict, Wait
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import Words, in_words

from .finding import Finding


class Believed(Struct, frozen=True, kw_only=True):
    finding: Finding
    """Without what does not hold of it; `hang` is what is known of that, and `evidence` all that is cited."""
    words: Words
    claims: tuple[Claim, ...] = ()
    waits: tuple[Wait, ...] = ()
    hosts: Mapping[int, str]
    """Where the logs say that the ranks run that the evidence names."""
    excerpts: tuple[Excerpt, ...] = ()

    @property
    def culprits(self) -> tuple[int, ...]:
        """Those that are more than suspected."""
        return () if self.finding.confidence == "hypothesis" else self.finding.culprits

    def verdict(self) -> Verdict:
        finding = self.finding
        cause, unadvised = CAUSES[finding.cause], finding.unadvised
        named = [
            Culprit(rank=rank, host=self.hosts.get(rank), doing=finding.doing.get(rank))
            for rank in finding.culprits
        ]
        return Verdict(
            hang=finding.hang,
            cause=finding.cause,
            family=cause.family,
            confidence=finding.confidence,
            sentence=in_words(self.words).strip(),
            culprits=named if self.culprits else [],
            suspects=[] if self.culprits else named,
            assumed=finding.assumed or None,
            ordinary=finding.ordinary,
            victims=format_ranks(finding.victims),
            divergence=finding.divergence,
            location=finding.location,
            excerpts=list(self.excerpts),
            waits=list(self.waits),
            evidence=list(finding.evidence),
            alternatives=list(finding.alternatives),
            remedies=list(cause.remedies),
            anti_advice=[] if "anti_advice" in unadvised else list(cause.anti_advice),
            probes=[] if "probes" in unadvised else list(cause.probes),
            missing_evidence=list(finding.missing),
            claims=list(self.claims),
        )
