"""`split_mismatch`: what ranks send to each other is not what they expect of each other."""

from __future__ import annotations

from support.reason import exchanges
from support.reason.building import WORLD, Call, Job, Step, case_of, loop
from support.reason.witnesses import C10D, Witnesses, blamed

from rankandfile.model.diagnosis import Verdict
from rankandfile.reason import diagnose


def test_sums_alone_blame_nobody() -> None:
    verdict = exchanges.exchange(given=24)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "hypothesis", [])


Splits = tuple[list[int], list[int]]


#: Rank 0 gives rank 2 four rows; rank 2 expects six.
GIVES_LESS: list[Splits] = [([5, 5, 4], [5, 1, 2]), ([1, 1, 1], [5, 1, 1]), ([2, 1, 1], [6, 1, 1])]


AGREED: list[Splits] = [([5, 5, 6], [5, 1, 2]), ([1, 1, 1], [5, 1, 1]), ([2, 1, 1], [6, 1, 1])]


def exchanging(
    splits: list[Splits], told: bool, shown: tuple[int, ...] = (0, 1, 2), stale: bool = False
) -> Verdict:
    """`told`: the members exchange their numbers first. `stale`: stacks show the numbers of another call."""
    ranks = list(range(len(splits)))
    programs: dict[int, list[Step]] = {}
    for rank in ranks:
        gives, takes = splits[rank]
        counts = ([[len(ranks)]], [[len(ranks)]])
        rows = ([[sum(gives), 8]], [[sum(takes), 8]])
        programs[rank] = [
            *loop([Call(WORLD, "all_reduce", 64, "a.py:5")], 3),
            *([Call(WORLD, "all_to_all", site="a.py:8", dtype="Long", sizes=counts)] if told else []),
            Call(WORLD, "all_to_all", site="a.py:9", sizes=rows),
        ]
    stalled = frozenset({(WORLD, 5 if told else 4)})
    witnesses = Witnesses(case_of(Job({WORLD: ranks}, programs, stalled=stalled)))
    for rank in shown:
        gives, takes = ([n + stale for n in side] for side in splits[rank])
        asked = (
            f"all_to_all_single: input_split_sizes={gives}\nall_to_all_single: output_split_sizes={takes}"
        ).replace(", ", ",")
        witnesses.stack(
            rank, [("all_to_all_single", C10D, 5140), ("forward", "/workspace/a.py", 9)], asked=asked
        )
    return diagnose(witnesses.case).verdicts[0]


def test_the_one_that_sends_another_number_than_it_had_told() -> None:
    verdict = exchanging(GIVES_LESS, told=True)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "supported", [0])
    assert "rank 0 sends 4 rows to rank 2, which expects 6" in verdict.sentence
    assert [other.culprits for other in verdict.alternatives] == ["2"]
    assert verdict.divergence is not None
    assert [cohort.ranks for cohort in verdict.divergence.cohorts] == ["2", "0"]


def test_a_pair_that_told_each_other_nothing_is_shown_and_nobody_blamed() -> None:
    verdict = exchanging(GIVES_LESS, told=False)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "established", [])
    assert "Which of the two numbers is wrong" in verdict.sentence


def test_a_receiver_that_misread_all_it_was_told_does_not_make_culprits_of_the_senders() -> None:
    misread: list[Splits] = [([5, 5, 6], [5, 1, 2]), ([1, 1, 1], [5, 1, 1]), ([2, 1, 1], [9, 4, 1])]
    verdict = exchanging(misread, told=True)
    assert (verdict.cause, blamed(verdict)) == ("split_mismatch", [])


def test_stacks_of_one_side_or_of_another_call_tell_no_pair() -> None:
    for verdict in (exchanging(GIVES_LESS, True, shown=(0, 1)), exchanging(GIVES_LESS, True, stale=True)):
        assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "hypothesis", [])


def test_splits_that_agree_are_no_mismatch() -> None:
    assert exchanging(AGREED, told=True).cause != "split_mismatch"


def recorded(gives: list[list[int]], takes: list[list[int]]) -> Verdict:
    """A tensor of its own for each member: the dumps alone have the splits."""
    ranks = list(range(len(gives)))
    programs: dict[int, list[Step]] = {
        rank: [
            *loop([Call(WORLD, "all_reduce", 64, "a.py:5")], 3),
            Call(
                WORLD,
                "all_to_all",
                site="a.py:9",
                sizes=([[n] for n in gives[rank]], [[n] for n in takes[rank]]),
            ),
        ]
        for rank in ranks
    }
    (verdict,) = diagnose(case_of(Job({WORLD: ranks}, programs, stalled=frozenset({(WORLD, 4)})))).verdicts
    return verdict


FITTING = [[1, 4, 7], [2, 5, 8], [3, 6, 9]]


def test_dumps_with_a_tensor_per_member_show_the_pair_that_disagrees() -> None:
    verdict = recorded([[1, 2, 4], [4, 5, 6], [7, 8, 9]], FITTING)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "established", [])
    assert "rank 0 sends 4 elements to rank 2, which expects 3" in verdict.sentence


def test_pairs_may_disagree_though_the_sums_agree() -> None:
    verdict = recorded([[1, 2, 4], [4, 5, 6], [7, 7, 9]], FITTING)
    assert verdict.cause == "split_mismatch"
    assert "rank 2 sends 7 elements to rank 1, which expects 8" in verdict.sentence


def test_who_disagrees_with_all_that_agree_among_themselves() -> None:
    verdict = recorded([[1, 2, 3], [4, 5, 6], [8, 9, 9]], FITTING)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "supported", [2])
    assert recorded([[1, 2, 3], [4, 5, 6], [7, 8, 9]], FITTING).cause != "split_mismatch"


def in_rounds(before: list[list[int]], gives: list[int], takes: list[int], told: bool = False) -> Verdict:
    """`before`: what each rank gave in each round before, all of which fitted. `gives`, `takes`: the one that hangs.
    `told`: they had exchanged numbers first of all."""
    ranks = list(range(len(gives)))
    counts = Call(WORLD, "all_to_all", site="a.py:8", dtype="Long", sizes=([[len(ranks)]], [[len(ranks)]]))
    programs: dict[int, list[Step]] = {
        rank: [counts] * told
        + [
            Call(WORLD, "all_to_all", site="a.py:9", sizes=([[gave[rank], 8]], [[took[rank], 8]]))
            for gave, took in [*((each, each[::-1]) for each in before), (gives, takes)]
        ]
        for rank in ranks
    }
    stalled = frozenset({(WORLD, len(before) + 1 + told)})
    return diagnose(case_of(Job({WORLD: ranks}, programs, stalled=stalled))).verdicts[0]


ALWAYS = [64, 48, 32, 16]


def test_who_alone_sends_another_amount_than_each_time_before_where_all_expect_that_of_before() -> None:
    verdict = in_rounds([ALWAYS] * 3, [64, 48, 20, 16], [10, 60, 50, 40])
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("split_mismatch", "supported", [2])
    assert "Each time before it sent 256 there" in verdict.sentence
    assert "sends 160 elements" in verdict.sentence


def test_who_alone_expects_another_amount_than_each_time_before() -> None:
    verdict = in_rounds([[60, 50, 10, 40]] * 3, [100, 20, 30, 10], [40, 10, 77, 60])
    assert blamed(verdict) == [2]
    assert "rank 2 expects 616 elements. Each time before it expected 400" in verdict.sentence


def test_an_amount_that_changed_from_round_to_round_or_is_not_what_lacks_blames_nobody() -> None:
    for before, gives, takes in (
        ([ALWAYS, [64, 48, 30, 16], ALWAYS], [64, 48, 20, 16], [10, 60, 50, 40]),
        ([ALWAYS] * 3, [64, 48, 20, 16], [10, 60, 50, 30]),
        ([ALWAYS] * 3, [64, 40, 20, 16], [10, 60, 50, 40]),
        ([ALWAYS] * 2, [64, 48, 20, 16], [10, 60, 50, 40]),
    ):
        verdict = in_rounds(before, gives, takes)
        assert (verdict.cause, blamed(verdict)) == ("split_mismatch", [])


def test_who_alone_changes_an_amount_where_nobody_elses_was_made_for_this_round_blames_nobody() -> None:
    """It changed what it was to keep, or another kept what it was to change."""
    verdict = in_rounds([ALWAYS] * 3, [64, 48, 20, 16], ALWAYS[::-1])
    assert (verdict.cause, blamed(verdict)) == ("split_mismatch", [])
    assert "rank 2 sends 160 elements" in verdict.sentence
    assert "rank 2 was to keep to its amount, or one of them was to change as well" in verdict.sentence
    # What the others keep to is its own word, where they had told each other.
    assert blamed(in_rounds([ALWAYS] * 3, [64, 48, 20, 16], ALWAYS[::-1], told=True)) == [2]
