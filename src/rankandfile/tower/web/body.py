"""What a client sends: never more than is allowed, and not slower than anybody would."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from rankandfile.tower.errors import Refused

#: For a whole body: who takes longer holds a place that others need.
_WHOLE_S = 60.0


async def body_of(request: Request, most: int) -> bytes:
    """Raises Refused."""
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()) or int(declared) > most:
        raise _too_large(most)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refused(415, "encoding", "the body may not be compressed")
    try:
        return await asyncio.wait_for(_read(request, most), _WHOLE_S)
    except (asyncio.TimeoutError, TimeoutError) as error:
        raise Refused(408, "slow", f"the body took longer than {_WHOLE_S:.0f} s") from error
    except ClientDisconnect as error:
        raise Refused(400, "gone", "the body broke off") from error


async def _read(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise _too_large(most)
        parts.append(chunk)
    return b"".join(parts)


def _too_large(most: int) -> Refused:
    return Refused(413, "large", f"the body may have {most:,} bytes")
