"""`early_exit`: a rank ended well while others still wait for it."""

from __future__ import annotations

from support.reason import absent_rank
from support.reason.witnesses import best, blamed


def test_exit_code_0_while_others_wait() -> None:
    verdict = best(absent_rank.lost().exit(2, 0))
    assert (verdict.cause, blamed(verdict)) == ("early_exit", [2])
    assert "uneven_inputs" in [a.cause for a in verdict.alternatives]
