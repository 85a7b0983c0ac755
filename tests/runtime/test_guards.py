"""Guards between real processes over gloo: what they decide, and what they say when ranks do not go together."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest
from support.later import Later
from support.runtime.gloo_ranks import Rank, Ranks

from rankandfile.lab.ranks import free_port

programs = Later("support.runtime.guard_programs")

pytestmark = [pytest.mark.slow, pytest.mark.torch]


def all_raise(found: list[Rank], kind: str, *texts: str) -> None:
    for rank in found:
        assert rank.raised == kind, rank.out
        for text in texts:
            assert text in rank.message


def test_decisions_are_the_same_on_all_ranks(ranks: Ranks) -> None:
    found = ranks.run(3, programs.decisions)
    assert found[0].returned == found[1].returned == found[2].returned
    assert found[0].returned == {
        "any": True,
        "all": False,
        "none": False,
        "every": True,
        "same": True,
        "value": {"lr": 0.1, "shape": [3, 4]},
        "tensor": [0, 1, 2],
        "shared": 101,
        "asked": {"rank": 2},
    }


def test_a_disagreement_names_the_odd_rank_its_value_and_the_step(ranks: Ranks) -> None:
    found = ranks.run(4, programs.unlike_values)
    all_raise(
        found, "Disagreement", "'should_stop'", "guard_programs.py:", "rank 2 has True", "other 3 have False"
    )
    assert [rank.odd for rank in found] == [[2]] * 4
    assert {rank.step for rank in found} == {"7"}
    assert found[0].values == {"0": "False", "1": "False", "2": "True", "3": "False"}


def test_flags_that_should_be_the_same(ranks: Ranks) -> None:
    found = ranks.run(3, programs.unlike_flags)
    all_raise(found, "Disagreement", "rank 0 has False")
    assert found[1].odd == [0]


def test_without_a_majority_nobody_is_singled_out(ranks: Ranks) -> None:
    found = ranks.run(4, programs.unlike_halves)
    all_raise(found, "Disagreement", "ranks 0,2 have 0", "ranks 1,3 have 1")
    assert found[0].odd == [0, 1, 2, 3]


def test_a_caught_disagreement_leaves_guards_usable(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(3, programs.keeps_going_after_disagreement)] == [2, 2, 2]


def test_a_skipped_step_is_found_at_the_next_guard(ranks: Ranks) -> None:
    found = ranks.run(3, programs.skips_a_step)
    all_raise(found, "Parted", "step 2", "step 3", "rank 1 waits")
    assert found[0].odd == [1]


def test_ranks_at_different_guards_do_not_wait_for_the_timeout(ranks: Ranks) -> None:
    all_raise(
        ranks.run(2, programs.takes_the_other_branch), "Parted", "'save'", "'evaluate'", "rank 0", "rank 1"
    )


def test_a_killed_rank_is_named_before_the_timeout(ranks: Ranks) -> None:
    found = ranks.run(3, programs.never_comes, "killed")
    assert found[2].exit == -signal.SIGKILL
    all_raise(found[:2], "PeerFailed", "rank 2", "is gone", "'warm up'")
    assert found[0].missing == [2]


def test_a_rank_that_does_not_come_is_named_with_the_place_it_was_last_seen(ranks: Ranks) -> None:
    found = ranks.run(3, programs.never_comes, "asleep")
    all_raise(found[:2], "GuardTimeout", "'stop'", "rank 2 was last at", "'warm up'")
    assert found[0].missing == found[1].missing == [2]


def test_a_late_rank_learns_that_the_others_gave_up(ranks: Ranks) -> None:
    found = ranks.run(3, programs.late_rank)
    all_raise(found, "GuardTimeout", "rank 1")
    assert {rank.message for rank in found} == {found[0].message}


def test_a_slow_rank_is_waited_for(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(2, programs.slow_but_fine)] == [True, True]


def test_the_end_of_the_store_is_an_error_of_its_own(ranks: Ranks) -> None:
    all_raise(ranks.run(2, programs.store_dies)[1:], "StoreLost", "rank 0")


def test_subgroups(ranks: Ranks) -> None:
    found = [rank.returned for rank in ranks.run(4, programs.subgroups)]
    assert found[0] == [True] * 12
    assert found[3] == [True] * 11 + [False]  # not of that group: the local flag
    assert found[1] == [True] * 13
    assert found[2] == [True] * 11 + [False, True]


def test_a_subgroup_that_disagrees_does_not_stop_another(ranks: Ranks) -> None:
    found = ranks.run(4, programs.subgroup_differs)
    all_raise([found[1], found[3]], "Disagreement", "odd [1,3]", "rank 3 has True")
    assert [found[0].exit, found[2].exit] == [0, 0]


def test_guards_nest(ranks: Ranks) -> None:
    found = ranks.run(2, programs.nested)
    assert found[0].returned == found[1].returned == [[0, False], [1, True], [2, False]] * 2


def test_a_guard_inside_solo_work_is_found_out(ranks: Ranks) -> None:
    all_raise(ranks.run(2, programs.guard_inside_solo), "Parted", "solo 'prepare'", "'inner'")


def test_threads_beside_collectives(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(3, programs.threads)] == [0, 0, 0]


def test_a_guard_works_while_a_collective_waits(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(2, programs.while_a_collective_hangs)] == [True, True]


def test_after_destroy_and_again(ranks: Ranks) -> None:
    found = ranks.run(2, programs.after_destroy, [free_port(), free_port()])
    assert found[0].returned == [False, *[True] * 3, False, *[True] * 6, False], found[0].out
    assert found[1].returned == [True] * 12, found[1].out


def test_a_store_that_outlives_its_group(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(2, programs.same_store_again)] == [[True] * 6] * 2


def test_alone(ranks: Ranks) -> None:
    assert ranks.run(1, programs.world_of_one)[0].returned == [True, 3, [1, 2], 4]
    assert ranks.run(1, programs.alone)[0].returned == [True, False, "x", 5, [0, 1]]


def test_a_forked_child_does_not_vote(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(2, programs.forked_child)] == [["0", True], ["1", True]]


def test_switched_off_everything_is_local(ranks: Ranks) -> None:
    for variable in ("RAF_GUARDS", "RAF"):
        found = ranks.run(2, programs.switched_off, **{variable: "0"})
        assert [rank.returned for rank in found] == [[False, 0, 0, 1, True], [True, 1, 1, 2, False]]
        assert "raf:" not in found[0].out


def test_uneven_loaders_end_together(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(3, programs.uneven_any)] == [[0, 1, 2]] * 3
    found = [rank.returned for rank in ranks.run(3, programs.uneven_all)]
    assert [one[0] for one in found] == [[0, -1, -1], [0, 1, -1], [0, 1, 2]]
    assert [one[1] for one in found] == [[0, 0, 0], [0, 1, 1], [0, 1, 2]]
    assert [one[2] for one in found] == [[None] * 4, [0, 1, 1, 1], [0, 1, 2, 3]]


def test_a_loader_that_raises_ends_the_loop_everywhere(ranks: Ranks) -> None:
    found = ranks.run(3, programs.uneven_raises)
    assert (found[1].raised, found[1].message) == ("ValueError", "shard 7 is corrupt")
    all_raise([found[0], found[2]], "PeerFailed", "rank 1", "ValueError: shard 7 is corrupt")


def test_a_rank_that_leaves_a_loop_is_named(ranks: Ranks) -> None:
    found = ranks.run(2, programs.leaves_the_loop)
    assert found[0].exit == 0
    all_raise(found[1:], "PeerFailed", "rank 0", "left the loop after batch 3")


def test_solo_work_is_waited_for(ranks: Ranks, tmp_path: object) -> None:
    found = ranks.run(2, programs.solo_work, FLAG=f"{tmp_path}/flag")
    assert [rank.returned for rank in found] == [[False, "ready"], [True, "ready"]]


def test_solo_work_that_fails_frees_the_others(ranks: Ranks) -> None:
    found = ranks.run(3, programs.solo_fails, "raises")
    assert found[0].raised == "FileNotFoundError"
    all_raise(found[1:], "PeerFailed", "rank 0 failed at solo 'prepare'", "no such bucket")
    assert [rank.exit for rank in ranks.run(3, programs.solo_fails, "not")] == [0, 0, 0]


def test_solo_work_that_dies_or_takes_too_long(ranks: Ranks) -> None:
    died = ranks.run(3, programs.solo_dies)
    all_raise([died[0], died[2]], "PeerFailed", "rank 1", "is gone")
    late = ranks.run(2, programs.solo_too_long)
    all_raise(late[:1], "GuardTimeout", "rank 1 has been at work in solo 'prepare'")


def test_a_failure_is_known_before_the_barrier_behind_it(ranks: Ranks) -> None:
    for program in (programs.failure_before_a_barrier, programs.failure_before_an_inner_guard):
        found = ranks.run(3, program)
        assert found[1].raised == "ZeroDivisionError"
        all_raise([found[0], found[2]], "PeerFailed", "rank 1", "ZeroDivisionError: division by zero")


def test_a_handled_failure_leaves_guards_usable(ranks: Ranks) -> None:
    assert [rank.returned for rank in ranks.run(2, programs.failure_that_is_handled)] == [2, 2]


def test_announcements_can_be_compared_between_logs(ranks: Ranks) -> None:
    found = ranks.run(4, programs.announces)
    assert not [one for one in found if one.exit]
    lines = [
        re.findall(r"raf: rank (\d) step 3: (call \d) on world \[0-3\]: (\w+) .*#(\w{6}) ", r.out)
        for r in found
    ]
    assert [[line[:3] for line in one] for one in lines] == [
        [(str(rank), "call 1", "all_reduce"), (str(rank), "call 2", "broadcast")] for rank in range(4)
    ]
    hashes = [[line[3] for line in one] for one in lines]
    assert hashes[0][0] == hashes[1][0] != hashes[2][0] == hashes[3][0]
    assert len({one[1] for one in hashes}) == 1


def test_the_store_does_not_fill_up(ranks: Ranks) -> None:
    keys = ranks.run(3, programs.cleans_up)[0].returned
    assert keys < 20


def test_importing_guards_is_light() -> None:
    """Neither torch nor anything of the analysis half comes with them."""
    code = (
        "import sys, rankandfile.guard as g; g.agree(True); "
        "print(sorted({'torch', 'polars', 'msgspec', 'numpy', 'rich', 'typer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
