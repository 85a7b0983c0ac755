"""What logs tell of the truth, by the scorer's own reading: only that is asked of an analyser of logs."""

from __future__ import annotations

import pytest

from rankandfile.lab.score.answer import Answer
from rankandfile.lab.score.judge import judge
from rankandfile.lab.score.told_by_logs import Told, told
from rankandfile.lab.truth import CohortTruth, DivergenceTruth, Truth


def truth(behind: str, members: list[int], world: int = 8, culprits: list[int] | None = None) -> Truth:
    rest = ",".join(str(rank) for rank in members if str(rank) not in behind.split(","))
    return Truth(
        name="x", title="x", program="x", world_size=world, hang=True, cause="host_blocked", family="host",
        culprits=[int(r) for r in behind.split(",")] if culprits is None else culprits,
        divergence=DivergenceTruth(
            kind="absent", group="18", description="mesh_tp", members=members, seq=449,
            cohorts=[CohortTruth(ranks=rest, op="all_reduce"), CohortTruth(ranks=behind)],
        ),
    )  # fmt: skip


def gave_up(rank: int, seq: int = 449, group: str = "18(mesh_tp)") -> str:
    return (
        f"[rank{rank}]:[E812 09:20:31.004418210 ProcessGroupNCCL.cpp:2271] [PG ID 3 PG GUID {group} Rank 0]  failure "
        f"detected by watchdog at work sequence id: {seq} PG status: last enqueued work: 500, last completed work: 448"
    )


def answered(rank: int, enqueued: int, group: str = "18(mesh_tp)") -> str:
    return f"[rank{rank}]:[E1 PG.cpp:1] [PG ID 0 PG GUID {group} Rank 1] Last enqueued NCCL work: {enqueued}, last"


TP = truth("6", [4, 5, 6, 7])


@pytest.mark.parametrize(
    ("lines", "group", "behind"),
    [
        ([gave_up(4), gave_up(5), gave_up(7)], True, (6,)),
        # A member is missing besides: its silence is no different.
        ([gave_up(4), gave_up(5)], True, ()),
        ([gave_up(4), gave_up(5), answered(6, 448)], True, (6,)),
        ([gave_up(4), gave_up(5), answered(6, 449)], True, ()),
        # Of another group, of another call, of nothing at all.
        ([gave_up(4, group="19(mesh_tp)"), gave_up(5, group="19(mesh_tp)")], False, ()),
        ([gave_up(4, 448), gave_up(5, 448), gave_up(7, 448)], True, ()),
        (["step 5 loss 2.0"], False, ()),
        # Only the one that went wrong names the group.
        ([gave_up(6)], False, ()),
    ],
)
def test_what_the_lines_tell(lines: list[str], group: bool, behind: tuple[int, ...]) -> None:
    assert told(TP, "\n".join(lines)) == Told(group, behind)


def test_one_speaker_tells_no_member_of_a_group_that_nobody_lists() -> None:
    pair = truth("1", [0, 1], world=4)
    assert told(pair, gave_up(0)).behind == ()
    whole = truth("1", [0, 1], world=2)
    assert told(whole, gave_up(0)).behind == (1,)


@pytest.mark.parametrize(
    ("answer", "group", "behind"),
    [
        (Answer(group="mesh_tp [4-7]", seq=449, waiting=[4, 5, 7], behind=[6]), True, True),
        (Answer(group="mesh_tp [0-3]", seq=300, waiting=[0, 1], behind=[2, 3]), False, False),
        (Answer(group="mesh_dp [4,6]", waiting=[4], behind=[6]), False, True),
        (Answer(), False, False),
    ],
)
def test_how_it_is_marked(answer: Answer, group: bool, behind: bool) -> None:
    marks = judge(TP, answer, dumps_only=False, in_logs=Told(True, (6,)))
    assert (marks.group_right, marks.behind_right) == (group, behind)
    nothing = judge(TP, answer, dumps_only=False, in_logs=Told(False, ()))
    assert (nothing.group_right, nothing.behind_right) == (None, None)
