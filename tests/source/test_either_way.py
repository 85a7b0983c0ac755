"""Which way a rank went at a test is said only where it can have come to where it was seen by no other."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, play

from rankandfile.model.claims import TookBranch

PROGRAM = """
    import os
    import torch.distributed as dist

    EVERY = int(os.environ.get("EVERY", "2"))
    OWN = [3, 1]

    def save(n):
        {inside}
        dist.all_gather(n)

    def main():
        for n in range(1, 5):
            dist.all_reduce(n)
            own = n - OWN[dist.get_rank()]
            {test}
                save(n)
            {after}
        dist.barrier()
"""


KEPT = """try:
            dist.all_gather({given})
        except OSError:
            return"""


def ways(
    test: str, inside: str = "n += 1", after: str = "own = 0", call: str = "dist.all_gather(n)"
) -> dict[str, bool]:
    program = PROGRAM.replace("dist.all_gather(n)", call, 1)
    run = play(2, train=program.format(test=test, inside=inside, after=after))
    claims = [claim for claim in located(run, 0).claims if isinstance(claim, TookBranch)]
    return {claim.ranks: claim.truth for claim in claims}


def test_a_call_that_cannot_be_left_out_behind_the_test_shows_both_ways() -> None:
    assert ways("if own > 0:") == {"0": False, "1": True}


def test_a_call_that_may_be_left_out_in_silence_shows_one() -> None:
    assert ways("if own > 0:", "if n % EVERY:\n            return") == {"1": True}


@pytest.mark.parametrize(
    ("given", "shown"), [("n", {"0": False, "1": True}), ("os.fspath(str(n))", {"1": True})]
)
def test_who_may_have_been_thrown_out_before_the_call_may_have_gone_that_way(
    given: str, shown: dict[str, bool]
) -> None:
    """A plain collective has been made when it raises; what it is given may raise before."""
    assert ways("if own > 0:", call=KEPT.format(given=given)) == shown


@pytest.mark.parametrize(
    "inside", ["for _ in range(2):\n            n += 1", "if n > 9:\n            return"]
)
def test_what_is_equal_on_all_ranks_parts_nobody_in_there(inside: str) -> None:
    assert ways("if own > 0:", inside) == {"0": False, "1": True}


def test_a_loop_that_ends_for_all_alike_is_no_other_way_out() -> None:
    """Who broke out of it was not out of rounds, where the others go round once more."""
    assert ways("if own > 9:", after="if own > 0: break") == {"0": False, "1": True}
