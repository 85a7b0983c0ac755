"""Exactly what would be sent first, by way of the library that would send it, to nobody."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace

import httpx2

from rankandfile.agent.playbook import Draft

from .consult import Wishes, consult

_SECRET = {"authorization", "x-api-key", "x-goog-api-key", "api-key"}


@dataclass
class _Nobody(httpx2.AsyncBaseTransport):
    """Takes the first request, and refuses it so that nobody tries again."""

    seen: str = ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = (await request.aread()).decode("utf-8", "replace")
        headers = "\n".join(
            f"{name}: {'(your key)' if name.lower() in _SECRET else value}"
            for name, value in request.headers.items()
        )
        with contextlib.suppress(ValueError):
            body = json.dumps(json.loads(body), indent=1, ensure_ascii=False)
        self.seen = self.seen or f"{request.method} {request.url}\n{headers}\n\n{body}\n"
        return httpx2.Response(400, json={"error": {"message": "preview", "type": "preview"}})


def preview(draft: Draft, wishes: Wishes) -> str:
    nobody = _Nobody()
    consult(draft, replace(wishes, conversation=None, transport=nobody))
    return nobody.seen
