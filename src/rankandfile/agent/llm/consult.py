"""Asks a model about a draft, from the opening to the account, also where a recorded conversation goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from rankandfile.agent.llm import providers, record
from rankandfile.agent.llm.account import CONCLUDED, INTERRUPTED, Account
from rankandfile.agent.llm.budget import Budget
from rankandfile.agent.llm.choice import Choice
from rankandfile.agent.llm.discipline import DISCIPLINE, opening
from rankandfile.agent.llm.hidden_names import NamesAsTheyAre
from rankandfile.agent.llm.replies import MODEL, Replies
from rankandfile.agent.llm.session import Session
from rankandfile.agent.playbook import Draft

_LONGEST_DRAFT = 40_000


@dataclass(frozen=True)
class Wishes:
    choice: Choice
    budget: Budget
    names: NamesAsTheyAre
    conversation: Path | None = None
    """Where it is kept; None: nowhere."""
    earlier: tuple[ModelMessage, ...] = ()
    """What to go on with."""
    say: Callable[[str], None] = lambda _: None
    tick: Callable[[int], None] = lambda _: None
    transport: httpx2.AsyncBaseTransport | None = None


def consult(draft: Draft, wishes: Wishes) -> Account:
    """What the model adds. An interruption ends it as a budget does."""
    words = draft.document.markdown()
    head = record.Head(
        model=wishes.choice.spec,
        draft=record.digest(words),
        redaction_key=wishes.names.key.hex() if wishes.names.key else None,
    )
    kept = record.Record(wishes.conversation)
    http = providers.client(wishes.transport)
    replies = Replies(draft.bench, draft.journal, wishes.budget, wishes.names, wishes.say)
    session = Session(
        model=providers.model(wishes.choice, http),
        settings=lambda room: providers.settings(wishes.choice, room),
        budget=wishes.budget,
        replies=replies,
        record=kept,
        tick=wishes.tick,
    )
    draft.journal.by = MODEL
    # The draft is hidden first in any case: the names that it has are those that come back.
    first = opening(wishes.names.hide(words[:_LONGEST_DRAFT]))
    earlier = wishes.earlier or (ModelRequest([UserPromptPart(first)], instructions=DISCIPLINE),)
    record.rewrite(kept, head, earlier)

    async def converse() -> str:
        async with http:
            return await session.run()

    try:
        session.resume(earlier)
        ended = "" if replies.done else asyncio.run(converse())
    except KeyboardInterrupt:
        ended = INTERRUPTED
    judged = replies.judged
    return Account(
        model=wishes.choice.spec,
        destination=wishes.choice.host,
        redacted=wishes.names.key is not None,
        ended=ended or CONCLUDED,
        findings=judged.findings,
        dropped=judged.dropped,
        sent_back=replies.sent_back,
        verdict=judged.verdict,
        fix=judged.fix,
        spent=wishes.budget.close(),
    )


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
