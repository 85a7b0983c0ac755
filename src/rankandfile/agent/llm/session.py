"""The conversation with a model: request, answer its questions, check what it concludes, within the budget.

Whatever the model or its server does ends in a reason. The verdict of the rules is not in its reach.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, PartDeltaEvent
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from rankandfile.agent.registry import TOOLS
from rankandfile.render.words import plain

from . import conclusion
from .budget import MOST_CHARACTERS_PER_TOKEN, Budget, OutOfBudget, estimated
from .discipline import CONCLUDE, DISCIPLINE
from .record import Record
from .replies import Replies

_LONGEST_ERROR = 300


@dataclass
class Session:
    model: Model
    settings: Callable[[int], ModelSettings]
    budget: Budget
    replies: Replies
    record: Record
    tick: Callable[[int], None]
    messages: list[ModelMessage] = field(default_factory=list)
    _received: int = 0

    async def run(self) -> str:
        """Until it has concluded, or cannot: the reason in a few words, empty for the former."""
        try:
            while not self.replies.done:
                last = self.messages[-1]
                if isinstance(last, ModelResponse):
                    self._keep(ModelRequest(self.replies.to(last), instructions=DISCIPLINE))
                elif self.replies.hopeless:
                    return "it did not conclude, though it was asked to"
                else:
                    self._keep(await self._ask())
        except OutOfBudget as error:
            return str(error)
        except Exception as error:  # its server may send anything, and its library raise anything
            if self.budget.seconds_left <= 0:
                return f"its {self.budget.seconds:g} seconds were used up"
            words = plain(" ".join(_told(error).split()))
            return f"it could not be asked, or its answer not be read: {words[:_LONGEST_ERROR]}"
        return ""

    def resume(self, messages: Sequence[ModelMessage]) -> None:
        """Takes up a recorded conversation: what the model asked is asked of the tools again."""
        say, self.replies.say = self.replies.say, lambda _: None
        # What was answered then is answered now, whatever is left to ask.
        steps, self.budget.steps = self.budget.steps, sys.maxsize
        for number, message in enumerate(messages):
            if isinstance(message, ModelResponse):
                sent = estimated(sum(map(_length, self.messages)))
                self._took(message, sent)
                if number + 1 < len(messages):
                    self.replies.to(message)
            self.messages.append(message)
        self.replies.say, self.budget.steps = say, steps

    def _keep(self, message: ModelMessage) -> None:
        self.messages.append(message)
        self.record.add(message)

    def _took(self, response: ModelResponse, sent: int) -> None:
        usage = response.usage
        self.budget.took(usage.input_tokens, usage.output_tokens, sent, _length(response))

    async def _ask(self) -> ModelResponse:
        sent = estimated(sum(map(_length, self.messages)) + _overhead())
        room = self.budget.room(sent)
        self._received = 0
        try:
            response = await asyncio.wait_for(self._stream(room), max(0.1, self.budget.seconds_left))
        except BaseException:
            # What was sent was sent, whether or not an answer came.
            self.budget.took(0, 0, sent, self._received)
            raise
        self._took(response, sent)
        return response

    async def _stream(self, room: int) -> ModelResponse:
        async with model_request_stream(
            self.model,
            self.messages,
            model_settings=self.settings(room),
            model_request_parameters=_parameters(self.budget.steps_left > 0),
        ) as stream:
            async for event in stream:
                if isinstance(event, PartDeltaEvent):
                    delta = event.delta
                    words = getattr(delta, "content_delta", None) or getattr(delta, "args_delta", None)
                    self._received += len(str(words or ""))
                    self.tick(self._received)
                    if self._received > MOST_CHARACTERS_PER_TOKEN * room:
                        raise OutOfBudget(f"its answer went on beyond the {room:,} tokens that it may have")
            return stream.get()


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


def _told(error: BaseException) -> str:
    """With what it began: libraries call every such thing an error of the connection."""
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    more = "" if str(first) in str(error) else f" ({first})"
    return f"{type(error).__name__}: {error}{more}"


def _overhead() -> int:
    """Characters that go with each request: the discipline, and what the tools are."""
    tools = _parameters(True).function_tools
    return len(DISCIPLINE) + sum(len(t.description or "") + len(str(t.parameters_json_schema)) for t in tools)


def _length(message: ModelMessage) -> int:
    return sum(
        len(str(getattr(part, "content", ""))) + len(str(getattr(part, "args", "") or ""))
        for part in message.parts
    )
