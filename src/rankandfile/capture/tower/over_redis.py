"""By way of a Redis: reports and cases are entries of two streams, which towers read as one group of consumers.

What no tower takes in time is trimmed, the oldest first, and both streams expire: a Redis that nobody reads from does
not fill up.
"""

from __future__ import annotations

import urllib.parse
from typing import IO

import redis

REPORTS, CASES = "raf:reports", "raf:cases"
#: Entries that are kept until towers have taken them; and how long, after the last one.
MOST_REPORTS, MOST_CASES, OLD_S = 20_000, 16, 86400
ANSWER_S, CASE_S = 5.0, 60.0


class OverRedis:
    def __init__(self, url: str) -> None:
        self._url = url
        self.where = urllib.parse.urlsplit(url).netloc.rpartition("@")[2] or "the socket"
        self._redis: redis.Redis | None = None

    def post(self, report: bytes) -> None:
        if self._redis is None:
            self._redis = self._reached(ANSWER_S)
        self._add(self._redis, REPORTS, {"report": report}, MOST_REPORTS)

    def hand(self, job: str, name: str, archive: IO[bytes], size: int) -> None:
        server = self._reached(CASE_S)
        try:
            case = {"job": job.encode(), "name": name.encode(), "archive": archive.read(size)}
            self._add(server, CASES, case, MOST_CASES)
        finally:
            server.close()

    def close(self) -> None:
        if self._redis is not None:
            self._redis.close()
            self._redis = None

    def _reached(self, answer_s: float) -> redis.Redis:
        """Raises ValueError for what is no address."""
        return redis.Redis.from_url(self._url, socket_timeout=answer_s, socket_connect_timeout=ANSWER_S)

    def _add(self, server: redis.Redis, stream: str, entry: dict[str, bytes], most: int) -> None:
        try:
            with server.pipeline() as together:
                together.xadd(stream, entry, maxlen=most, approximate=most > MOST_CASES)  # type: ignore[arg-type]
                together.expire(stream, OLD_S)
                together.execute()
        except redis.RedisError as error:
            raise OSError(str(error).splitlines()[0][:200] if str(error) else type(error).__name__) from error
