"""Groups that vary legally: of one description and of other members for each rank, and used by turns."""

from __future__ import annotations

from support.reason.building import WORLD, Call, Job, Step, Stop, case_of
from support.reason.witnesses import best, blamed

FIRST = Call("1", "all_reduce", 64, "a.py:5")
TOGETHER = Call(WORLD, "all_gather", 8, "trainer.py:9")


def test_a_mismatch_that_nobody_got_past_is_one() -> None:
    programs: dict[int, list[Step]] = {rank: [FIRST, TOGETHER, FIRST] for rank in range(3)}
    programs[2] = [FIRST, TOGETHER, FIRST._replace(op="broadcast", site="b.py:7")]
    groups = {WORLD: [0, 1, 2], "1": [0, 1, 2]}
    verdict = best(case_of(Job(groups, programs, backend="gloo"), members=False))
    assert (verdict.cause, blamed(verdict)) == ("different_collective", [2])


def test_a_group_that_is_used_less_than_another_of_its_kind_lacks_no_call() -> None:
    """Each rank has a neighbour on either side, and a group with each; in a round not all of these have a call."""
    groups = {WORLD: [0, 1, 2, 3], "1": [0, 1], "2": [1, 2], "3": [2, 3], "4": [0, 3]}
    near = {name: Call(name, "all_reduce", 16, "o.py:7") for name in "1234"}
    programs: dict[int, list[Step]] = {rank: [] for rank in range(4)}
    for names in ("1234", "1234", "2", "234", "13"):
        for rank, program in programs.items():
            program += [*(near[name] for name in names if rank in groups[name]), TOGETHER]
    programs[0] = [*programs[0][:-1], Stop()]
    for backend in ("gloo", "nccl"):
        verdict = best(case_of(Job(groups, programs, backend, descs=dict.fromkeys(near, "pair"))))
        assert (verdict.cause, blamed(verdict)) == ("undetermined", [0]), verdict.sentence


def _by_turns(rounds: str) -> dict[int, list[Step]]:
    """Per rank, a letter for each call: a, b and c of all, a digit on a group of two."""
    ops: dict[str, Step] = {
        "a": Call(WORLD, "broadcast", 8, "t.py:10"),
        "b": Call(WORLD, "all_gather", 8, "t.py:11"),
        "c": Call(WORLD, "all_gather", 64, "t.py:12"),
    }
    pairs: dict[str, Step] = {n: Call(n, "all_reduce", 16, "o.py:7") for n in "1234"}
    return {rank: [(ops | pairs)[letter] for letter in of] for rank, of in enumerate(rounds.split())}


def test_nobody_is_said_to_have_made_a_call_of_a_group_that_it_is_no_member_of() -> None:
    """Rank 1 left out its call with rank 2, in rounds that use the groups by turns."""
    groups = {WORLD: [0, 1, 2], "1": [0, 1], "2": [1, 2], "3": [0, 2]}
    programs = _by_turns("13abcabcabc13abc3abc 12abc2abc2abc1abcabc 23abc2abc2abc3abc23abc")
    case = case_of(Job(groups, programs, "gloo", descs=dict.fromkeys("123", "undefined")))
    verdict = best(case)
    made = [
        one for one in (*verdict.culprits, *verdict.suspects) if "made the all_reduce" in (one.doing or "")
    ]
    assert not made, verdict.sentence
    assert not {0, 2} & {*blamed(verdict)}


def test_a_call_that_both_sides_have_made_in_their_groups_was_not_made_instead() -> None:
    """Rank 0 left out the first all_gather of its third round; the groups of two are used by turns."""
    groups = {WORLD: [0, 1, 2, 3], "1": [0, 1], "2": [1, 2], "3": [2, 3], "4": [0, 3]}
    programs = _by_turns("4cb14cbbcb cb12cb2cbcb cb2cb23cbcb 4cb4cb3cbcb")
    verdict = best(case_of(Job(groups, programs, "gloo", descs=dict.fromkeys("1234", "pair")), frames=False))
    assert "the all_reduce" not in verdict.sentence, verdict.sentence
