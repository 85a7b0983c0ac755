"""What ranks tell each other about their plan, through the job's store: asks and answers, where each one waits, ends.

Who wants to hear what is new waits for its key, in a thread and by a connection of its own: a healthy job costs nobody
a question.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from rankandfile.runtime.guards.membership import Members
from rankandfile.runtime.plan.judge import Post

_NOT_YET = "-"
#: A job without any news.
_FOR_EVER = timedelta(days=20)
#: Between two questions to a store that nobody can wait at, and a rank's share: one server answers them all.
EVERY_S, PER_RANK_S = 0.05, 0.0005


def line(store: Any) -> Any:
    """A connection to wait at, without being in anybody's way; None where the store has no such thing."""
    from torch import distributed as dist

    base = store
    while isinstance(base, dist.PrefixStore):
        base = getattr(base, "underlying_store", None)
    waits = isinstance(base, (dist.TCPStore, dist.HashStore)) and hasattr(store, "clone")
    return store.clone() if waits else None


class Board:
    def __init__(self, world: Members, life: int) -> None:
        self.world = world
        self._store = world.store
        self._prefix = f"plan/{life}"
        self._read = 0
        self._line = line(world.store)

    def _key(self, *parts: object) -> str:
        return "/".join([self._prefix, *map(str, parts)])

    def _peek(self, key: str) -> str:
        # Reading a key that is not there would wait for it: so put a dash there first.
        found = str(self._store.compare_set(key, "", _NOT_YET).decode())
        return "" if found == _NOT_YET else found

    def tell(self, kind: str, **facts: object) -> None:
        number = self._store.add(self._key("news"), 1)
        self._store.set(self._key("news", number), json.dumps({"kind": kind, **facts}))

    def news(self) -> list[dict[str, Any]]:
        """Comes back with what was told since the last time, once there is something. For one thread."""
        key = self._key("news", self._read + 1)
        if self._line is not None:
            self._line.wait([key], _FOR_EVER)
            self._read += 1
            return [json.loads(self._line.get(key))]
        time.sleep(max(EVERY_S, PER_RANK_S * len(self.world.ranks)))
        last, found = self._store.add(self._key("news"), 0), []
        while self._read < last and (text := self._peek(self._key("news", self._read + 1))):
            self._read += 1
            found.append(json.loads(text))
        return found

    def post(self, series: str, number: int, post: Post) -> int:
        """Put up this rank's call; returns how many members have theirs up now."""
        self._store.set(self._key("at", series, number, post.rank), json.dumps(asdict(post)))
        return int(self._store.add(self._key("at", series, number, "count"), 1))

    def posts(self, series: str, number: int, ranks: Iterable[int]) -> dict[int, Post]:
        texts = {rank: self._peek(self._key("at", series, number, rank)) for rank in ranks}
        return {rank: Post(**json.loads(text)) for rank, text in texts.items() if text}

    def settle(self, series: str, number: int, words: str) -> None:
        self._store.compare_set(self._key("at", series, number, "outcome"), "", words)

    def outcome(self, series: str, number: int) -> str:
        """Empty as long as there is none."""
        key = self._key("at", series, number, "outcome")
        return str(self._store.get(key).decode()) if self._store.check([key]) else ""

    def clear(self, series: str, number: int, ranks: Iterable[int]) -> None:
        """All are past it."""
        for what in ("count", "outcome", *ranks):
            self._store.delete_key(self._key("at", series, number, what))

    def stand(self, facts: dict[str, object] | None) -> None:
        """Say what this rank waits in, or that it goes on."""
        self._store.set(self._key("stand", self.world.me), json.dumps(facts))

    def standing(self, ranks: Iterable[int]) -> dict[int, dict[str, Any]]:
        texts = {rank: self._peek(self._key("stand", rank)) for rank in ranks}
        return {rank: value for rank, text in texts.items() if text and (value := json.loads(text))}

    def breach(self, text: str) -> str:
        """Settle how the plan was left, unless it is settled; returns what holds, and tells everybody."""
        held = ""
        for expected in ("", _NOT_YET):
            held = str(self._store.compare_set(self._key("breach"), expected, text).decode())
            if held == text:
                self.tell("breach", text=text)
            if held != _NOT_YET:
                break
        return held

    def how_it_was_left(self) -> str:
        """Empty as long as the plan is kept."""
        return self._peek(self._key("breach"))
