"""The conversation with a model: request, answer its questions, check what it concludes, within the budget.

Whatever the model or its server does ends in an account. The verdict of the rules is not in its reach.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from rankandfile.agent.bench import Bench
from rankandfile.agent.journal import Journal
from rankandfile.agent.registry import TOOLS
from rankandfile.agent.tool import ToolError
from rankandfile.render.words import plain

from . import conclusion
from .answers import Answers, arguments_of
from .budget import Budget, OutOfBudget, estimated
from .conclusion import Judged
from .discipline import CONCLUDE, DISCIPLINE
from .record import Record
from .veil import NoVeil

#: How often it is asked again: for what it cannot support, for a conclusion, for anything but silence.
_TRIES, _NUDGES = 2, 2
_MOST_AT_ONCE = 8
_LONGEST_ERROR = 300


@dataclass
class Session:
    bench: Bench
    journal: Journal
    model: Model
    settings: Callable[[int], ModelSettings]
    budget: Budget
    veil: NoVeil
    record: Record
    say: Callable[[str], None]
    tick: Callable[[int], None]
    messages: list[ModelMessage] = field(default_factory=list)
    judged: Judged = field(default_factory=Judged)
    sent_back: int = 0
    done: bool = False
    _tries: int = 0
    _nudges: int = 0
    _received: int = 0

    def __post_init__(self) -> None:
        self._answers = Answers(self.journal)

    async def run(self) -> str:
        """Until it has concluded, or cannot: the reason in a few words, empty for the former."""
        try:
            while not self.done:
                if isinstance(self.messages[-1], ModelResponse):
                    self._keep(ModelRequest(self.reply(self.messages[-1]), instructions=DISCIPLINE))
                    continue
                if self._nudges > _NUDGES:
                    return "it did not conclude, though it was asked to"
                self._keep(await self._ask())
        except OutOfBudget as error:
            return str(error)
        except asyncio.TimeoutError:
            return f"its {self.budget.seconds:g} seconds were used up"
        except Exception as error:  # its server may send anything, and its library raise anything
            words = plain(" ".join(f"{type(error).__name__}: {error}".split()))
            return f"it could not be asked, or its answer not be read: {words[:_LONGEST_ERROR]}"
        return ""

    def resume(self, messages: Sequence[ModelMessage]) -> None:
        """Takes up a recorded conversation: what the model asked is asked of the tools again."""
        say, self.say = self.say, lambda _: None
        # What was answered then is answered now, whatever is left to ask.
        steps, self.budget.steps = self.budget.steps, sys.maxsize
        for number, message in enumerate(messages):
            self.messages.append(message)
            if isinstance(message, ModelResponse):
                sent = estimated(sum(map(_length, messages[:number])))
                self.budget.took(
                    message.usage.input_tokens, message.usage.output_tokens, sent, _length(message)
                )
                if number + 1 < len(messages):
                    self.reply(message)
        self.say, self.budget.steps = say, steps

    def _keep(self, message: ModelMessage) -> None:
        self.messages.append(message)
        self.record.add(message)

    async def _ask(self) -> ModelResponse:
        sent = estimated(sum(map(_length, self.messages)) + _overhead())
        room = self.budget.room(sent)
        self._received = 0

        async def ask() -> ModelResponse:
            async with model_request_stream(
                self.model,
                self.messages,
                model_settings=self.settings(room),
                model_request_parameters=_parameters(self.budget.steps_left > 0),
            ) as stream:
                async for event in stream:
                    self._received += len(str(getattr(event, "delta", "")))
                    self.tick(self._received)
                return stream.get()

        try:
            response = await asyncio.wait_for(ask(), max(0.1, self.budget.seconds_left))
        except BaseException:
            # What was sent was sent, whether or not an answer came.
            self.budget.took(0, 0, sent, self._received)
            raise
        self.budget.took(response.usage.input_tokens, response.usage.output_tokens, sent, _length(response))
        return response

    def reply(self, response: ModelResponse) -> list[ModelRequestPart]:
        """The answers to what it asked; where it asked nothing, that it is to conclude."""
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        if not calls:
            self._nudges += 1
            return [UserPromptPart(f"Nobody reads text here. Ask a tool, or call {CONCLUDE}.")]
        parts: list[ModelRequestPart] = []
        for number, call in enumerate(calls):
            words = (
                self._answer(call) if number < _MOST_AT_ONCE else "No answer: too many questions at a time"
            )
            parts.append(
                ToolReturnPart(
                    tool_name=call.tool_name, content=self.veil.hide(words), tool_call_id=call.tool_call_id
                )
            )
        return parts

    def _answer(self, call: ToolCallPart) -> str:
        try:
            arguments = self.veil.show(arguments_of(call.args))
            if call.tool_name == CONCLUDE:
                return self._conclude(conclusion.parsed(arguments))
        except ToolError as error:
            self.budget.spent.steps += 1
            self.say(f"refused: {error}")
            return self._or_end(f"No answer: {error}")
        if self.budget.steps_left <= 0:
            return self._or_end(f"No question is left: call {CONCLUDE}.")
        self.budget.spent.steps += 1
        shown = " ".join(f"{key}={value}" for key, value in arguments.items() if value is not None)
        self.say(f"step {self.budget.spent.steps} of {self.budget.steps}: {call.tool_name} {shown}")
        return self._answers.answer(call.tool_name, arguments)

    def _or_end(self, words: str) -> str:
        if self.budget.steps_left <= 0:
            self._nudges += 1
        return words

    def _conclude(self, concluded: conclusion.Conclusion) -> str:
        self.judged = conclusion.judged(self.bench, self.journal, concluded)
        self._tries += 1
        if self.judged.clean or self._tries > _TRIES:
            self.done = True
            return "done"
        self.sent_back += len(self.judged.dropped) + (
            self.judged.verdict is not None and not self.judged.verdict.accepted
        )
        self.say(f"sent back: {len(self.judged.dropped)} findings that nothing supports")
        return self.judged.complaint()


def _parameters(may_ask: bool) -> ModelRequestParameters:
    """With no step left, all that it can do is conclude."""
    tools = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.schema())
        for tool in TOOLS.values()
        if may_ask and tool.name != "propose_verdict"
    ]
    last = ToolDefinition(
        name=CONCLUDE, description=conclusion.DESCRIPTION, parameters_json_schema=conclusion.schema()
    )
    return ModelRequestParameters(function_tools=[*tools, last], allow_text_output=True)


def _overhead() -> int:
    """Characters that go with each request: the discipline, and what the tools are."""
    tools = _parameters(True).function_tools
    return len(DISCIPLINE) + sum(len(t.description or "") + len(str(t.parameters_json_schema)) for t in tools)


def _length(message: ModelMessage) -> int:
    return sum(
        len(str(getattr(part, "content", ""))) + len(str(getattr(part, "args", "") or ""))
        for part in message.parts
    )
