"""A meeting place in a Redis: for fleets, whose nodes share no folder, and are too many for a job's own store."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rankandfile.capture.in_redis import OLD_S, client, or_os_error


class RedisPlace:
    """The members are a hash, and what each leaves is a string; both of one job, and both expire."""

    ANSWER_S = 10.0
    WORDS = ("word", "evidence", "watch")

    @or_os_error()
    def __init__(self, url: str, job: str) -> None:
        """`job` tells apart what uses the server at the same time. Raises `OSError` where nothing answers."""
        self._redis = client(url, self.ANSWER_S, self.ANSWER_S)
        self._prefix = f"raf:{job}:"
        self._members = f"{self._prefix}members"

    @or_os_error()
    def enrol(self, member: str) -> None:
        with self._redis.pipeline() as together:
            together.hset(self._members, member, str(time.time()))
            together.expire(self._members, OLD_S)
            together.execute()

    @or_os_error()
    def members(self) -> list[str]:
        with self._redis.pipeline() as together:
            together.hkeys(self._members)
            # Who asks is there: a job may run for days.
            together.expire(self._members, OLD_S)
            names = together.execute()[0]
        return sorted(name.decode(errors="replace") for name in names if isinstance(name, bytes))

    @or_os_error()
    def put(self, name: str, data: bytes) -> None:
        self._redis.set(self._prefix + name, data, ex=OLD_S)

    def get(self, name: str) -> bytes | None:
        return self.get_all([name])[0]

    @or_os_error()
    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        found = self._redis.mget([self._prefix + name for name in names]) if names else []
        return [data if isinstance(data, bytes) else None for data in found]

    @or_os_error()
    def remove(self, member: str) -> None:
        with self._redis.pipeline() as together:
            together.hdel(self._members, member)
            together.delete(*(f"{self._prefix}{member}/{word}" for word in self.WORDS))
            together.execute()
