"""The headline says no more than was seen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from rankandfile.model.diagnosis import Call, Cohort, Culprit, Divergence, Location, Verdict, Wait
from rankandfile.render.headline import cause_beside, headline, place


def verdict(cause: str, kind: str = "absent", condition: str | None = None, **more: object) -> Verdict:
    return Verdict(
        hang=True,
        cause=cause,
        family="paths",
        confidence="established",
        sentence="",
        culprits=[Culprit(rank=1, doing=str(more.get("doing", "")))],
        divergence=Divergence(group="0", seq=3, kind=kind, cohorts=[]),
        location=Location(file="train.py", line=9, condition=condition),
        waits=[Wait(ranks="1", waits_for="0", group="0", seq=None, op=str(more["op"]))]
        if "op" in more
        else [],
    )


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("substituted", "made another call"),
        ("absent", "did not come to the call"),
        ("skipped", "left out a call"),
        ("extra", "made a call more"),
        ("cycle", "went another way"),
    ],
)
def test_of_a_branch_that_nobody_saw_only_the_calls_are_told(kind: str, told: str) -> None:
    assert headline(verdict("rank_conditional", kind), 2) == f"HANG: rank 1 {told}"
    shown = headline(verdict("rank_conditional", kind, "if rank == 0:"), 2)
    assert shown == "HANG: rank 1 took a branch that depends on the rank"


def test_a_line_of_pythons_own_is_nowhere_to_look() -> None:
    own, installed = "/usr/lib/python3.11/", "/opt/venv/lib/python3.11/site-packages/"
    for file, shown in ((f"{own}multiprocessing/util.py", ""), (f"{installed}lit/loop.py", "loop.py:9")):
        one = verdict("teardown_only")
        one.location = Location(file=file, line=9)
        assert place(one) == shown


def test_who_aborts_itself_is_not_said_to_be_killed() -> None:
    assert headline(verdict("killed", doing="aborted itself (SIGABRT)"), 2) == "HANG: rank 1 aborted itself"
    assert headline(verdict("killed", doing="killed by SIGKILL"), 2) == "HANG: rank 1 was killed"


def test_where_all_are_named_nobody_has_the_order_that_theirs_would_differ_from() -> None:
    """Of four ranks in a circle none is the odd one; of one among three it is another order than theirs."""
    circle = verdict("order_inversion", "cycle")
    circle.culprits = [Culprit(rank=rank) for rank in range(4)]
    circle.victims = ""
    assert headline(circle, 4) == "HANG: ranks 0-3 made collectives in different orders"
    alone = verdict("order_inversion", "cycle")
    alone.victims = "0,2"
    assert headline(alone, 3) == "HANG: rank 1 made collectives in another order"


def test_of_whom_only_its_peers_tell_it_is_not_said_how_it_ended() -> None:
    gone = verdict("killed", doing="gone: its peers lost a connection, and all others are still there")
    assert headline(gone, 2) == "HANG: rank 1 gone"


@pytest.mark.parametrize(
    ("kind", "beside"), [("skipped", "next call: other.py:7"), ("substituted", "at other.py:7")]
)
def test_beside_who_skipped_a_call_stands_none_that_it_made(kind: str, beside: str) -> None:
    """`skipped a collective   at other.py:7` would be read as: that one."""
    mine, theirs = Call(op="barrier", file="other.py", line=7), Call(op="all_reduce", file="train.py", line=9)
    one = verdict("skipped_collective", kind)
    one.divergence = Divergence(
        group="0", seq=3, kind=kind, cohorts=[Cohort(ranks="0", call=theirs), Cohort(ranks="1", call=mine)]
    )
    assert place(one) == beside


@pytest.mark.parametrize(
    ("kind", "family", "beside"),
    [
        ("skipped", "paths", "next call: other.py:7"),
        ("argument", "arguments", "at other.py:7"),
        ("extra", "paths", "at other.py:7"),
        ("argument", "process_gone", ""),
    ],
)
def test_where_the_source_has_no_line_their_own_call_stands_beside_it(
    kind: str, family: str, beside: str
) -> None:
    mine, theirs = Call(op="barrier", file="other.py", line=7), Call(op="all_reduce", file="train.py", line=9)
    cohorts = [Cohort(ranks="0", call=theirs), Cohort(ranks="1", call=mine)]
    one = replace(
        verdict("skipped_collective"),
        family=family,
        location=None,
        divergence=Divergence(group="0", seq=3, kind=kind, cohorts=cohorts),
    )
    assert place(one) == beside


@pytest.mark.parametrize(
    ("cause", "family", "said", "beside"),
    [
        ("rank_conditional", "paths", "HANG: ranks went different ways", "rank conditional"),
        (
            "order_inversion",
            "paths",
            "HANG: ranks came to their calls in different orders",
            "order inversion",
        ),
        ("network_stalled", "fabric", "HANG: network stalled", ""),
    ],
)
def test_where_nobody_is_named_it_says_what_happened(cause: str, family: str, said: str, beside: str) -> None:
    nobody = replace(verdict(cause), culprits=[], family=family)
    assert (headline(nobody, 2), cause_beside(nobody)) == (said, beside)


def test_receives_are_no_collectives() -> None:
    assert headline(verdict("order_inversion", op="recv"), 2) == "HANG: rank 1 wait for each other's messages"
    assert "collectives" in headline(verdict("order_inversion", op="all_reduce"), 2)


def test_messages_that_no_dump_records_are_no_collectives_either() -> None:
    circle = verdict("order_inversion")
    circle.culprits = [
        Culprit(rank=0, doing="sends to rank 1 before it receives"),
        Culprit(rank=1, doing="receives from rank 0 before it sends"),
    ]
    assert headline(circle, 2) == "HANG: ranks 0,1 wait for each other's messages"
