"""Reports and cases that lie in the streams of a Redis: taken in as any, and taken off there once they are kept.

All towers that read there are one group of consumers: each entry goes to one of them. What a tower had taken up when
it ended, another takes up again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import redis
import redis.asyncio

from rankandfile.capture.tower.over_redis import CASES, REPORTS
from rankandfile.model.errors import in_a_line
from rankandfile.tower.api.intake import take_case, take_report
from rankandfile.tower.errors import Refused
from rankandfile.tower.tower import Tower
from rankandfile.tower.web.route import well_named

_GROUP = "towers"
#: Reports at a time; how long one waits for some, and after a failure; after how long another's entries are taken up.
_AT_ONCE, _WAIT_MS, _PAUSE_S, _LEFT_MS = 64, 2000, 2.0, 60_000
_ANSWER_S = 10.0

Entry = tuple[bytes, Mapping[bytes, bytes]]
_log = logging.getLogger("rankandfile.tower")


class FromRedis:
    """Raises ValueError for what is no address of one."""

    def __init__(self, url: str) -> None:
        self._redis = redis.asyncio.Redis.from_url(
            url, socket_timeout=_ANSWER_S, socket_connect_timeout=_ANSWER_S
        )
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"

    async def take_all(self, tower: Tower) -> None:
        """For as long as the tower runs. A Redis that is away is told once, and waited for."""
        async with self._redis:
            await self._for_ever(tower)

    async def _for_ever(self, tower: Tower) -> None:
        away = False
        while True:
            try:
                await self._begin()
                if away:
                    _log.warning("the Redis answers again")
                away = False
                while True:
                    await self._round(tower)
            except (redis.RedisError, OSError) as error:
                if not away:
                    _log.warning("the Redis does not answer: %s", in_a_line(error))
                away = True
                await asyncio.sleep(_PAUSE_S)

    async def _begin(self) -> None:
        for stream in (REPORTS, CASES):
            try:
                await self._redis.xgroup_create(stream, _GROUP, id="0", mkstream=True)
            except redis.ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise

    async def _round(self, tower: Tower) -> None:
        for stream, most in ((REPORTS, _AT_ONCE), (CASES, 1)):
            left: Any = await self._redis.xautoclaim(stream, _GROUP, self._name, _LEFT_MS, count=most)
            await self._take(tower, stream, left[1])
            wait = _WAIT_MS if stream == REPORTS else None
            came: Any = await self._redis.xreadgroup(
                _GROUP, self._name, {stream: ">"}, count=most, block=wait
            )
            for _, entries in came.items() if isinstance(came, dict) else came or ():
                await self._take(tower, stream, entries)

    async def _take(self, tower: Tower, stream: str, entries: Sequence[Entry]) -> None:
        kept = await asyncio.gather(*(self._one(tower, stream, dict(entry or {})) for _, entry in entries))
        over = [number for (number, _), done in zip(entries, kept, strict=True) if done]
        if over:
            async with self._redis.pipeline() as together:
                together.xack(stream, _GROUP, *over)
                together.xdel(stream, *over)
                await together.execute()
        if len(over) < len(entries):
            await asyncio.sleep(_PAUSE_S)

    async def _one(self, tower: Tower, stream: str, entry: Mapping[bytes, bytes]) -> bool:
        """Whether there is no more to be done with it: it is kept, or can never be."""
        try:
            if stream == REPORTS:
                body = entry.get(b"report", b"")
                if len(body) > tower.settings.post_bytes:
                    raise Refused(413, "large", "larger than a report may be")
                await take_report(tower, body)
            else:
                job, name = (entry.get(key, b"").decode(errors="replace") for key in (b"job", b"name"))
                archive = entry.get(b"archive", b"")
                if len(archive) > tower.settings.case_bytes or not well_named({"job": job}):
                    raise Refused(413, "large", "larger than a case may be, or of no job")
                await take_case(tower, job, name, archive)
        except Refused as refused:
            tower.numbers.refused.labels(refused.word).inc()
            # One that may be tried again is the tower's own trouble: what came is good, and stays where it lies.
            return refused.after_s is None
        return True
