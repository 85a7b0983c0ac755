"""By way of a Redis: reports and cases are entries of two streams, which towers read as one group of consumers.

What no tower takes in time is trimmed, the oldest first, and both streams expire: a Redis that nobody reads from does
not fill up.
"""

from __future__ import annotations

import urllib.parse
from typing import IO, TYPE_CHECKING

from rankandfile.capture.in_redis import OLD_S, client, or_os_error

if TYPE_CHECKING:
    from redis import Redis

REPORTS, CASES = "raf:reports", "raf:cases"
#: Entries that are kept until towers have taken them.
MOST_REPORTS, MOST_CASES = 20_000, 16
ANSWER_S, CASE_S = 5.0, 60.0


class OverRedis:
    def __init__(self, url: str) -> None:
        self._url = url
        self.where = urllib.parse.urlsplit(url).netloc.rpartition("@")[2] or "the socket"
        self._redis: Redis | None = None

    def post(self, report: bytes) -> None:
        if self._redis is None:
            self._redis = client(self._url, ANSWER_S, ANSWER_S)
        self._add(self._redis, REPORTS, {"report": report}, MOST_REPORTS)

    def hand(self, job: str, name: str, archive: IO[bytes], size: int) -> None:
        server = client(self._url, CASE_S, ANSWER_S)
        try:
            case = {"job": job.encode(), "name": name.encode(), "archive": archive.read(size)}
            self._add(server, CASES, case, MOST_CASES)
        finally:
            server.close()

    def close(self) -> None:
        if self._redis is not None:
            self._redis.close()
            self._redis = None

    @or_os_error()
    def _add(self, server: Redis, stream: str, entry: dict[str, bytes], most: int) -> None:
        with server.pipeline() as together:
            together.xadd(stream, entry, maxlen=most, approximate=most > MOST_CASES)  # type: ignore[arg-type]
            together.expire(stream, OLD_S)
            together.execute()
