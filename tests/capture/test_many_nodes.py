"""Sentinels of many nodes: in a Redis, and by blocks, of which each is told to the first of all by one word."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import msgspec
import pytest
from support.capture.redis_server import redis_server
from support.capture.waiting import until

from rankandfile.capture.meet import nodes as whole
from rankandfile.capture.meet.where_to_meet import MeetingPlace, RedisUrl, place
from rankandfile.capture.meet.whom_to_read import IN_TURN, LOWEST, Reader, name_of
from rankandfile.capture.sentinel import across, blocks
from rankandfile.capture.sentinel.across import Across
from rankandfile.capture.sentinel.history import Call, History
from rankandfile.capture.sentinel.tree import Row
from rankandfile.capture.sentinel.words_of_nodes import Excerpt, Handed, Word
from rankandfile.model.digest import Frame, Prefix

NODES, BAD, WRONG = 9, 7, 40
#: Until all have heard all, whoever of them was enrolled late.
ROUNDS = 40
TRAIN, EVALUATE = (Frame("train.py", 12, "step"),), (Frame("evaluate.py", 5, "score"),)


class InMemory:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.enrolled: list[str] = []

    def enrol(self, member: str) -> None:
        self.enrolled.append(member)

    def members(self) -> list[str]:
        return list(self.enrolled)

    def put(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    def get(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        return [self.get(name) for name in names]

    def remove(self, member: str) -> None:
        self.enrolled.remove(member)


class Counts(InMemory):
    """How many words and names are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []
        self.named: list[int] = []

    def members(self) -> list[str]:
        self.named.append(len(self.enrolled))
        return super().members()

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        self.read.append(len(names))
        return super().get_all(names)


class Node:
    """One rank, that has made fifty calls, and hands over those that are asked for."""

    def __init__(self, rank: int, meeting: MeetingPlace) -> None:
        self.rank, self.wrong = rank, False
        meeting.enrol(f"node-{rank}")
        told = SimpleNamespace(own=f"node-{rank}", meeting_place=lambda: meeting, lost=False)
        self.nodes, self.across = told, Across(told)  # type: ignore[arg-type]
        self.across.own = self.word()

    def word(self) -> Word:
        history = History()
        for number in range(1, 51):
            wrong = self.wrong and number == WRONG
            history.add(
                number, Call(9 if wrong else 1 + number % 3, 2 if wrong else 1, 0, 0, 0, "all_reduce")
            )
        sums = (*history.prefixes(history.sums), Prefix(history.last, history.sums[-1]))
        row = Row("world", 0, history.last, history.last, 1, (self.rank,), sums)
        handed = {}
        if "world" in self.across.asks:
            calls = tuple(
                Handed(call.asked, call.path, self.rank, call.words, call.path - 1) for call in history.calls
            )
            handed = {"world": (Excerpt((self.rank,), 1, calls, (TRAIN, EVALUATE)),)}
        return Word(first=self.rank, rows=(row,), names={"world": "world"}, handed=handed, host="one")

    def speak(self) -> None:
        self.across.own = self.word()


@pytest.fixture(params=["memory", "redis"])
def meeting(request: pytest.FixtureRequest) -> Iterator[MeetingPlace]:
    if request.param == "memory":
        yield InMemory()
        return
    pytest.importorskip("redis")
    told = {"WORLD_SIZE": "18", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}
    with redis_server() as url:
        reach = place(RedisUrl(url), told)
        assert reach is not None
        yield reach()


@pytest.mark.parametrize("width", [2, 64], ids=["blocks", "one block"])
def test_the_first_of_all_tells_who_made_another_call(
    width: int, meeting: MeetingPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "WIDTH", width)
    monkeypatch.setattr(across, "EVERY_S", 0.02)
    monkeypatch.setattr(across, "MEMBERS_S", 0.2)
    nodes = [Node(rank, meeting) for rank in range(NODES)]
    try:

        def told() -> bool:
            for node in nodes:
                node.speak()
            time.sleep(0.01)
            return bool(nodes[0].across.found)

        # Who has not heard the others yet speaks for itself.
        until(lambda: not told() and all(node.across.rounds > ROUNDS for node in nodes), limit_s=60)
        nodes[BAD].wrong = True
        until(told, limit_s=60)
        (found,) = nodes[0].across.found
        assert found.divergence.number == WRONG
        assert found.divergence.odd == (BAD,)
        assert not any(node.across.found for node in nodes[1:]), "one speaks for all"
        until(lambda: all(not node.across.asks for node in nodes) or told(), limit_s=30)
    finally:
        for node in nodes:
            node.nodes.lost = True


def test_nobody_reads_more_than_the_words_of_a_block_and_those_of_the_blocks() -> None:
    for count in (1, 64, 65, 1000, 12_500):
        many = blocks.blocks_of(count)
        sizes = [0] * many
        for number in range(count):
            sizes[blocks.block(f"host-{number:05}-{number % 7}", many)] += 1
        assert max(sizes) + many <= 400, (count, many, max(sizes))
    assert blocks.blocks_of(64) == 1


MANY = 3000


def fleet(meeting: InMemory, count: int) -> list[str]:
    """Nodes of eight ranks, each of which has spoken; but for the one with rank 0."""
    names = [name_of((8 * node,), "host", f"{node}") for node in range(1, count + 1)]
    for node, name in enumerate(names, 1):
        told = whole.Word((8 * node,), "host", at=time.time() + 60)
        meeting.put(f"{name}/word", msgspec.json.encode(told))
    return names


@pytest.mark.parametrize(("rank", "all_of_them"), [(8 * 2000 + 4, False), (0, True)])
def test_of_thousands_nobody_but_who_speaks_reads_all(
    rank: int, all_of_them: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of all must know who has handed in; the others, who is the first."""
    monkeypatch.setattr(whole, "BEAT_S", 0.02)
    monkeypatch.setattr(whole, "LOOK_S", 0.05)
    monkeypatch.setattr(whole, "LOST_S", 600.0)
    meeting = Counts()
    meeting.enrolled = fleet(meeting, MANY)
    one = whole.Nodes(lambda: meeting, lambda _: None, (rank,), time.time())
    try:
        until(lambda: len(meeting.read) > 30)
        assert max(meeting.read) <= 2 * LOWEST + IN_TURN, "while all is well"
        assert set(one.others()) == set(meeting.enrolled) - {one.own}, "in turn, all are heard"
        assert len(meeting.named) <= 2  # those who are there are known
        calm = len(meeting.read)
        one.listen(True)
        until(lambda: len(meeting.read) > calm + 10)
        assert (max(meeting.read[calm:]) == MANY) is all_of_them
        assert one.first() == (one.own if all_of_them else meeting.enrolled[0])
    finally:
        one.leave(False)


def test_who_is_read_where_the_lowest_are_gone_or_have_ended() -> None:
    names = [name_of((rank,), "host", "") for rank in range(1000)]
    reader = Reader(names[500])
    gone, over = set(names[:200]), set(names[200:400])
    read = reader.whom(names, gone.__contains__, over.__contains__, True)
    assert set(names[200 : 200 + LOWEST]) | set(names[400 : 400 + LOWEST]) <= set(read)
    # Whoever comes back is heard of in turn; and of whom nothing lower speaks, reads all.
    turns = [set(reader.whom(names, gone.__contains__, over.__contains__, True)) for _ in range(10)]
    assert set.union(*turns) == set(names) - {names[500]}
    assert len(reader.whom(names, set(names[:500]).__contains__, over.__contains__, True)) == 999
    assert len(reader.whom(names, set(names[:500]).__contains__, over.__contains__, False)) < 400


def test_what_a_block_says_is_what_its_nodes_say() -> None:
    calls = (Handed(1, 1, 5, "all_reduce", 0),)
    rows = [Row("world", 0, 3, 3, 1, (rank,), (Prefix(3, 8),)) for rank in (4, 2)]
    words = [
        Word(
            first=rank, rows=(row,), names={"world": "w"}, told=(f"g{rank}",), ends="over" if rank == 4 else "",
            handed={"world": (Excerpt((rank,), 1, calls, (TRAIN,)),)},
        )
        for rank, row in zip((4, 2), rows, strict=True)
    ]  # fmt: skip
    one = blocks.combined(words)
    assert (one.first, one.rows[0].count, one.rows[0].ranks) == (2, 2, (2, 4))
    assert (one.told, one.ends, one.names) == (("g2", "g4"), "over", {"world": "w"})
    assert [excerpt.ranks for excerpt in one.handed["world"]] == [(2, 4)]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(one), type=Word) == one


def test_a_redis_that_is_not_there_is_an_error_of_the_system(meeting: MeetingPlace) -> None:
    if isinstance(meeting, InMemory):
        pytest.skip("of the Redis alone")
    from rankandfile.capture.meet.redis_place import RedisPlace

    gone = RedisPlace("redis://127.0.0.1:1/0", "job")
    for use in (gone.members, lambda: gone.enrol("one"), lambda: gone.put("a", b""), lambda: gone.get("a")):
        with pytest.raises(OSError, match="refused"):
            use()
    with pytest.raises(OSError):
        RedisPlace("redis://127.0.0.1:port/0", "job")


def test_what_a_node_leaves_goes_with_it(meeting: MeetingPlace) -> None:
    if isinstance(meeting, InMemory):
        pytest.skip("of the Redis alone")
    for member in ("one", "two"):
        meeting.enrol(member)
        meeting.put(f"{member}/evidence", b"x" * (9 << 20))
    meeting.put("alarm", b"1")
    meeting.remove("one")
    assert meeting.members() == ["two"] and meeting.get("one/evidence") is None
    assert meeting.get("alarm") == b"1" and len(meeting.get("two/evidence") or b"") == 9 << 20
