"""How to a tower: straight, over HTTP, or by way of a Redis, from which towers take it when they come to it."""

from __future__ import annotations

from typing import IO, Protocol

from rankandfile.capture.in_redis import ADDRESSES as REDIS


class Refused(ValueError):
    """Who answers does not take it, in words for a person."""

    def __init__(self, why: str, for_good: bool) -> None:
        super().__init__(why)
        self.for_good = for_good
        """The same will be refused however often it comes."""


class Way(Protocol):
    """Every method raises OSError or ValueError where it did not get there, in words for a person."""

    where: str
    """For a person, without a password."""

    def post(self, report: bytes) -> None:
        """One at a time, by one thread; acknowledged once it returns."""

    def hand(self, job: str, name: str, archive: IO[bytes], size: int) -> None:
        """A case, by any thread."""

    def close(self) -> None:
        """The next one begins anew."""


def way_to(url: str) -> Way:
    if url.startswith(REDIS):
        from .over_redis import OverRedis

        return OverRedis(url)
    from .over_http import OverHttp

    return OverHttp(url)
