"""NCCL's RAS, asked again and again: what is told of its answers, and what is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.capture.ras_stand_in import Comm, as_json, as_text, ras

from rankandfile.capture.ras.client import Address, address, ask
from rankandfile.capture.ras.looks import Looks
from rankandfile.evidence.text.logs.ras.answer import Answer, read
from rankandfile.model.digest import Finding

Print = Callable[[list[Comm]], bytes]
FORMS = {
    "json": lambda comms: as_json(comms, "2.28.9").encode(),
    "text": lambda comms: as_text(comms, "2.27.5", True).encode(),
}
HASH = 0x5C1E77AA02B9D314


def job(ranks: int, reduces: int, broadcasts: int = 3) -> Comm:
    return Comm(HASH, [{"AllReduce": reduces, "Broadcast": broadcasts} for _ in range(ranks)])


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Print:
    return FORMS[request.param]  # type: ignore[no-any-return]


def looked(form: Print, states: list[list[Comm]], every: float = 5.0) -> list[Finding]:
    looks = Looks()
    return [
        one
        for number, state in enumerate(states)
        for one in looks.look(read(form(state)), 1e9 + number * every)
    ]


def test_both_forms_say_the_same(form: Print) -> None:
    """Of a communicator whose counts differ in two operations; the text forgets what all agree on."""
    comm = job(8, 512)
    comm.counts[3] = {"AllReduce": 511, "Broadcast": 4}
    comm.counts[6] = {"Broadcast": 3}
    comm.dead = {5}
    answer: Answer = read(form([comm]))
    (one,) = answer.communicators
    assert one.id.startswith(f"{HASH:016x}") and one.size == 8
    large, small, none = sorted(one.cohorts, key=lambda part: -part.counts.get("AllReduce", 0))
    assert (none.counts.get("AllReduce", 0), none.members[0].number) == (0, 6)
    assert (large.size, small.size, small.counts["AllReduce"], small.counts["Broadcast"]) == (5, 1, 511, 4)
    assert [(m.number, m.pid, m.host, m.device) for m in small.members] == [(3, 4003, "10.0.0.1", "3")]
    assert [m.number for m in one.missing] == [5]


def test_counts_that_no_common_order_leads_to(form: Print) -> None:
    """While the job moves, and though nobody waits yet: one rank has made another call than the others."""
    states = []
    for step in range(4):
        comm = job(8, 500 + 10 * step, 3)
        comm.counts[3] = {"AllReduce": 499 + 10 * step, "Broadcast": 4}
        states.append([comm])
    (found,) = looked(form, states)
    assert (found.kind, found.certainty, found.ranks) == ("desync", "certain", "3")
    assert found.words == (
        "ranks disagree, by NCCL's RAS: in communicator 5c1e77aa02b9d314 of 8 ranks, rank 3 (process 4003 on 10.0.0.1, "
        "GPU 3) has launched 509 AllReduce and 4 Broadcast, and the 7 others 510 AllReduce and 3 Broadcast (-1 "
        "AllReduce, +1 Broadcast): no order of calls that all of them make leads to both"
    )


def test_nothing_is_launched_any_more_and_one_has_launched_less(form: Print) -> None:
    comm = job(4, 512)
    comm.counts[2]["AllReduce"] = 511
    moving = [job(4, 400 + 10 * step) for step in range(4)]
    found, over = looked(form, [*([one] for one in moving), *[[comm]] * 15, [job(4, 520)]])
    assert (found.kind, found.certainty, found.ranks, found.over) == ("frozen", "possible", "2", False)
    assert (
        "rank 2 (process 4002 on 10.0.0.1, GPU 2) has launched 511 AllReduce, and the 3 others 512"
        in found.words
    )
    assert found.words.startswith("nothing moves, by NCCL's RAS: for 60 s ")
    assert found.since == 1e9 + 4 * 5 and (over.id, over.over) == (found.id, True)


def test_who_is_dead_while_the_others_stand() -> None:
    comm = job(4, 512)
    comm.dead = {1}
    (found,) = looked(FORMS["json"], [[job(4, 500)], *[[comm]] * 15])
    assert (found.kind, found.ranks) == ("missing", "1")
    assert (
        "rank 1 of communicator 5c1e77aa02b9d314 of 4 ranks (process 4001 on 10.0.0.1, GPU 1) is considered dead by"
        in (found.words)
    )


def test_who_falls_behind() -> None:
    states = []
    for step in range(6):
        comm = job(4, 1000 * step)
        comm.counts[1]["AllReduce"] = 900 * step
        states.append([comm])
    (found,) = looked(FORMS["json"], states)
    assert (found.kind, found.ranks) == ("behind", "1")
    assert "400 launches behind the first, 300 more than 15 s ago" in found.words


def skewed() -> list[list[Comm]]:
    """Each rank is asked at a moment of its own, and hosts run ahead: any of them is ahead, in any look."""
    states = []
    for step in range(40):
        at = [700 * step + (step * rank * 37) % 50 for rank in range(8)]
        states.append([Comm(HASH, [{"AllReduce": n - n // 3, "Broadcast": n // 3} for n in at])])
    return states


def idle() -> list[list[Comm]]:
    return [[job(8, 512)]] * 200


def one_works_alone() -> list[list[Comm]]:
    """The main rank evaluates for half a minute, and the others wait for it; again and again."""
    ahead = job(8, 513)
    ahead.counts[0]["AllReduce"] = 512
    return [[job(8, 400)], *[[ahead]] * 7, *([job(8, 600 + step)] for step in range(4)), *[[ahead]] * 7]


def at_the_end() -> list[list[Comm]]:
    """All others have ended, and the main rank still saves."""
    comm = job(8, 512)
    comm.dead = set(range(1, 8))
    return [[job(8, 400)], *[[comm]] * 40]


def half_of_the_counts_read() -> list[list[Comm]]:
    """A rank launches while it is looked at: once, its counts fit nothing."""
    states = [[job(4, 500 + 10 * step)] for step in range(8)]
    states[3][0].counts[1] = {"AllReduce": 529, "Broadcast": 4}
    return states


@pytest.mark.parametrize("states", [skewed, idle, one_works_alone, at_the_end, half_of_the_counts_read])
def test_what_healthy_jobs_look_like_is_not_told(form: Print, states: Callable[[], list[list[Comm]]]) -> None:
    assert not looked(form, states())


def test_what_has_paused_before_gets_more_patience() -> None:
    """It once stood for 55 s in which the others waited, so a minute and more is nothing new."""
    waits = job(4, 512)
    waits.counts[0]["AllReduce"] = 511
    states = [[job(4, 400)], *[[waits]] * 12, [job(4, 600)], *[[waits]] * 50]
    assert not looked(FORMS["json"], states)


@pytest.mark.parametrize("version", ["2.26.2", "2.28.9"])
@pytest.mark.parametrize("silent", [0, 2])
def test_it_is_asked_as_it_wants_to_be_asked(version: str, silent: int) -> None:
    """Versions without JSON answer as text; a process that is stopped may get the connection."""
    with ras(lambda: [job(4, 7)], version, silent) as port:
        answer = read(ask(Address("127.0.0.1", port)))
    assert (answer.version, answer.whole) == (version, version == "2.28.9")


def test_what_is_no_answer() -> None:
    for data in (b"", b"HTTP/1.1 400 Bad Request\r\n", b'{"communicators": [', b"\xff\xfe"):
        with pytest.raises(ValueError, match="answer of RAS"):
            read(data)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("node-0:4000", ("node-0", 4000)), ("node-0", ("node-0", 28028)), (":4000", ("localhost", 4000)),
        ("[::1]:4000", ("::1", 4000)), ("::1", ("::1", 28028)),
    ],
)  # fmt: skip
def test_addresses(text: str, where: tuple[str, int]) -> None:
    assert address(text) == where
