"""Server-sent events: a stream that tells a page what has moved, and that no slow or vanished reader can hold up."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from rankandfile.tower.pulse import Listener
from rankandfile.tower.web.answers import HEADERS

#: Without news, a sign of life, so that proxies keep the stream open.
_SILENT_S = 15.0
#: Not more often than this.
_APART_S = 1.0
#: A reader that takes nothing for so long has gone.
_STUCK_S = 30.0


class Events(Response):
    media_type = "text/event-stream"

    def __init__(self, listener: Listener, leave: Callable[[Listener], None]) -> None:
        super().__init__(None, 200, {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._listener, self._leave = listener, leave
        # Of a stream the length is not known.
        self.raw_headers = [one for one in self.raw_headers if one[0] != b"content-length"]

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        telling = asyncio.ensure_future(self._tell(send))
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((telling, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._leave(self._listener)
            for task in (telling, leaving):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, OSError, asyncio.TimeoutError, TimeoutError):
                    await task

    async def _tell(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _put(send, "retry: 3000\n\n: begins\n\n")
        while True:
            news = await self._listener.news(_SILENT_S)
            lines = [f"event: {kind}\ndata: {json.dumps({'job': job})}\n\n" for job, kind in news] or [
                ": still here\n\n"
            ]
            await _put(send, "".join(lines))
            await asyncio.sleep(_APART_S)


async def _put(send: Send, text: str) -> None:
    message: Message = {"type": "http.response.body", "body": text.encode(), "more_body": True}
    await asyncio.wait_for(send(message), _STUCK_S)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
