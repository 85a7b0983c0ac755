"""What all that goes by way of a Redis shares: its addresses, a client that does not wait for ever, and its errors as
the system's. The client's package is an extra, and is loaded with the first client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankandfile.model.errors import in_a_line

if TYPE_CHECKING:
    from redis import Redis

ADDRESSES = ("redis://", "rediss://", "unix://")
#: What nobody has renewed for so long goes by itself: seconds.
OLD_S = 86400


def client(url: str, answer_s: float, reached_s: float) -> Redis:
    """Raises ValueError for what is no address."""
    import redis

    return redis.Redis.from_url(url, socket_timeout=answer_s, socket_connect_timeout=reached_s)


@contextmanager
def or_os_error() -> Iterator[None]:
    import redis

    try:
        yield
    except (redis.RedisError, ValueError) as error:
        raise OSError(in_a_line(error)) from error
