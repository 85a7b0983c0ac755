"""The score that nothing can be merged in: the largest page that a job of so many ranks and calls can make."""

from __future__ import annotations

import numpy as np

from rankandfile.model.pictures import Frames, Kinds, Score, Sheet, Track


def unlike(ranks: int, calls: int) -> Score:
    """Every rank has a row of its own, of thousands of kinds of calls."""
    dice, kinds, places = np.random.default_rng(0), 4000, 500
    tracks = [
        Track(ranks=str(rank), count=1, role="culprit" if rank == 3 else "victim", path=0,
              cells=dice.integers(1, kinds * 4, calls).astype("<u2").tobytes())
        for rank in range(ranks)
    ]  # fmt: skip
    return Score(
        kinds=Kinds(
            op=["all_to_all"] * kinds, group=["mesh_ep"] * kinds, detail=["[2048, 4096] BFloat16"] * kinds,
            site=[i % places for i in range(kinds)], stack=[[i % places, *range(12)] for i in range(kinds)],
        ),
        frames=Frames(
            function=[f"forward_{i}" for i in range(places)],
            file=[f"/workspace/train/model/layer_{i}.py" for i in range(places)],
            line=list(range(places)), library=[False] * places,
        ),
        sheets=[Sheet(title="all groups", numbered_by="call", first=0, columns=calls, tracks=tracks)],
    )  # fmt: skip
