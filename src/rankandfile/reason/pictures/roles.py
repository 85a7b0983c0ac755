"""Which ranks the diagnosis calls culprits and which victims."""

from __future__ import annotations

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import Role
from rankandfile.model.ranks import parse_ranks


class Roles:
    """Of the first verdict, or of all: a rank that any verdict accuses is a culprit."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        hangs = [verdict for verdict in diagnosis.verdicts if verdict.hang]
        self.culprits = frozenset(c.rank for verdict in hangs for c in verdict.culprits)
        victims = (rank for verdict in hangs for rank in parse_ranks(verdict.victims))
        self.victims = frozenset(victims) - self.culprits

    def of(self, rank: int) -> Role:
        return "culprit" if rank in self.culprits else "victim" if rank in self.victims else ""
