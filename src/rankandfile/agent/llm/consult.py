"""Asks a model about a draft, from the opening to the account, also where a recorded conversation goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart

from rankandfile.agent.playbook import Draft

from . import providers, record
from .account import CONCLUDED, INTERRUPTED, Account
from .answers import MODEL
from .budget import Budget
from .choice import Choice
from .discipline import DISCIPLINE, opening
from .hidden_names import NamesAsTheyAre
from .replies import Replies
from .session import Session

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
