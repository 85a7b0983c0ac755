"""Jobs of which no dump is left."""

from __future__ import annotations

from rankandfile.model.case import Case
from support.reason.witnesses import Witnesses


def nothing(world: int = 4) -> Witnesses:
    return Witnesses(Case(world_size=world))


def all_gave_up(seq: int = 9, besides: tuple[int, ...] = (), world: int = 4) -> Witnesses:
    witnesses = nothing(world)
    for rank in range(world):
        if rank not in besides:
            witnesses.gave_up(rank, seq, group="default_pg")
    return witnesses
