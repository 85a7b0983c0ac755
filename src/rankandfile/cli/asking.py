"""Asking a model, as the options say: whom, within which budget, with which names, and what is seen meanwhile."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .console import err
from .errors import UserError, told_as
from .model_options import CONVERSATION, Limits

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from rankandfile.agent.llm.account import Account
    from rankandfile.agent.llm.choice import Choice
    from rankandfile.agent.llm.consult import Wishes
    from rankandfile.agent.playbook import Draft
    from rankandfile.evidence.redact.names import Names


def choice_of(spec: str, *, need_key: bool) -> Choice:
    """Raises UserError before anything is read, if the model cannot be asked."""
    if importlib.util.find_spec("pydantic_ai") is None:
        raise UserError("--model needs Python 3.11 and the extra 'agent': pip install 'rankandfile[agent]'")
    from rankandfile.agent.llm.choice import NoSuchModel, chosen

    try:
        return chosen(spec, need_key=need_key)
    except NoSuchModel as error:
        raise UserError(str(error)) from error


def wishes_of(
    choice: Choice, limits: Limits, draft: Draft, folder: Path | None, redact: bool, resume: bool
) -> Wishes:
    from rankandfile.agent.llm.budget import Budget, known_price, price_of
    from rankandfile.agent.llm.consult import Wishes
    from rankandfile.agent.llm.hidden_names import NamesAsTheyAre, hidden_names

    try:
        price = known_price(choice) if limits.price is None else price_of(limits.price)
    except ValueError as error:
        raise UserError(f"--price {limits.price}: write it as 3,15 (dollars per million tokens)") from error
    if price is None:
        if limits.cost is not None:
            raise UserError(f"the price of {choice.spec} is not known: give --price, or leave out --max-cost")
        err.print("price          not known; --price IN,OUT tells it")
    conversation = None if folder is None else folder / CONVERSATION
    head, earlier = _earlier(conversation, choice, draft) if resume else (None, ())
    key = bytes.fromhex(head) if head else None
    redact = redact or key is not None
    return Wishes(
        choice=choice,
        budget=Budget(limits.steps, limits.tokens, limits.cost, limits.seconds, price),
        names=hidden_names(draft.bench.case, _own_names(), key) if redact else NamesAsTheyAre(),
        conversation=conversation,
        earlier=earlier,
    )


def _earlier(path: Path | None, choice: Choice, draft: Draft) -> tuple[str | None, tuple[ModelMessage, ...]]:
    """The redaction key and the messages of a recorded conversation."""
    from rankandfile.agent.llm import record

    if path is None:
        raise UserError("--resume needs the folder of the investigation: -o DIR")
    try:
        head, messages = record.read(path)
    except record.Unreadable as error:
        raise UserError(str(error)) from error
    if head.model != choice.spec:
        raise UserError(f"{path} is a conversation with {head.model[:120]}, not with {choice.spec}")
    if head.draft != record.digest(draft.document.markdown()):
        raise UserError(f"{path} is about other evidence or other source: begin anew, without --resume")
    return head.redaction_key, tuple(messages)


def _own_names() -> Names:
    """Whoever asks, on whatever machine."""
    from rankandfile.evidence.redact.names import Names

    names = Names()
    names.learn_own()
    return names


def previewed(choice: Choice, limits: Limits, draft: Draft, folder: Path | None, redact: bool) -> str:
    from rankandfile.agent.llm.consult import preview

    wishes = wishes_of(choice, limits, draft, folder, redact, resume=folder is not None)
    shown = preview(draft, wishes)
    hidden = {kind: len(values) for kind, values in wishes.names.given().items()}
    said = ", ".join(f"{number} of kind {kind}" for kind, number in hidden.items())
    err.print("nothing was sent. The answers to what the model asks of the tools would follow.")
    err.print(f"pseudonyms     {said or 'none: --redact gives them'}")
    return shown


def asked(choice: Choice, limits: Limits, draft: Draft, folder: Path, redact: bool, resume: bool) -> Account:
    """What the model adds, told in the draft's document."""
    from rankandfile.agent.llm.consult import consult
    from rankandfile.agent.llm.report import tell

    wishes = wishes_of(choice, limits, draft, folder, redact, resume)
    where = f"{choice.spec} at {choice.host}"
    hidden = "with pseudonyms" if wishes.names.key else "as it is; --redact hides names"
    err.print(f"asking         {where}, {hidden}", soft_wrap=True)
    if choice.in_clear:
        err.print("               over http, which anybody on the way can read")
    with told_as(f"cannot write to {folder}"), Telling() as telling:
        account = consult(draft, replace(wishes, say=telling.say, tick=telling.tick))
    tell(draft, account)
    return account


class Telling:
    """Steps as lines, and on a terminal how much of an answer has come."""

    def __init__(self) -> None:
        self._status = err.status("waiting for the model") if err.is_terminal else None

    def __enter__(self) -> Telling:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def say(self, words: str) -> None:
        from rankandfile.render.words import plain

        err.print(f"model          {plain(words)[:200]}", soft_wrap=True)

    def tick(self, received: int) -> None:
        if self._status is not None:
            self._status.update(f"the model answers: {received:,} characters")
