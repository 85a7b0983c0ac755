"""Which claim cites which evidence, in both directions."""

from __future__ import annotations

from msgspec import Struct, field

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.model.ledger import Evidence


class CitingPlace(Struct, frozen=True):
    anchor: str
    label: str


class Cited(Struct):
    anchor: str
    item: Evidence
    by: list[CitingPlace] = field(default_factory=list)


class Citations:
    """Evidence in the order of the document, each with the claims that rest on it."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        self.listed = [Cited(f"e{i}", item) for i, item in enumerate(diagnosis.evidence, 1)]
        self._by_id = {cited.item.id: cited for cited in self.listed}
        for number, verdict in enumerate(diagnosis.verdicts, 1):
            for claim, ids in _claims(number, verdict, len(diagnosis.verdicts) > 1):
                for evidence_id in ids:
                    cited = self._by_id.get(evidence_id)
                    if cited is not None and claim not in cited.by:
                        cited.by.append(claim)

    def of(self, ids: list[str]) -> list[Cited]:
        return [self._by_id[evidence_id] for evidence_id in dict.fromkeys(ids) if evidence_id in self._by_id]


def _claims(number: int, verdict: Verdict, several: bool) -> list[tuple[CitingPlace, list[str]]]:
    of = f" of verdict {number}" if several else ""
    found = [(CitingPlace(f"v{number}", f"verdict {number}" if several else "verdict"), verdict.evidence)]
    cohorts = verdict.divergence.cohorts if verdict.divergence else []
    for i, cohort in enumerate(cohorts, 1):
        if cohort.call is not None:
            found.append((CitingPlace(f"v{number}c{i}", f"cohort {i}{of}"), cohort.call.evidence))
    for i, wait in enumerate(verdict.waits, 1):
        found.append((CitingPlace(f"v{number}w{i}", f"wait {i}{of}"), wait.evidence))
    return found
