"""The model behind a choice, by the library that speaks each maker's protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from .choice import Choice

_CONNECT_S, _SILENT_S = 20.0, 180.0
"""How long a server may say nothing: models that think send signs of life."""

MOST_BYTES = 32 << 20
"""Of one answer: the longest that is asked for takes a tenth, in the smallest of pieces."""


class _Bounded(httpx2.AsyncByteStream):
    """Ends an answer without end, whether or not its pieces can be told apart."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = MOST_BYTES
        async for piece in self._stream:
            room -= len(piece)
            if room < 0:
                raise httpx2.ReadError("the answer is longer than any that was asked for")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("content-encoding", "identity") != "identity":
        # A few bytes may expand to gigabytes.
        raise httpx2.DecodingError("the answer is compressed, though it was not to be")
    response.stream = _Bounded(response.stream)


def client(transport: httpx2.AsyncBaseTransport | None = None) -> httpx2.AsyncClient:
    """Follows nobody elsewhere: what is sent goes to the address that was named."""
    timeout = httpx2.Timeout(_SILENT_S, connect=_CONNECT_S)
    return httpx2.AsyncClient(
        transport=transport,
        timeout=timeout,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [_bound]},
    )


def model(choice: Choice, http: httpx2.AsyncClient) -> Model:
    where: Any = {"api_key": choice.key or "none", "base_url": choice.base, "http_client": http}
    if choice.kind == "anthropic":
        return AnthropicModel(choice.name, provider=AnthropicProvider(**where))
    if choice.kind == "google":
        return GoogleModel(choice.name, provider=GoogleProvider(**where))
    if choice.kind == "ollama":
        return OpenAIChatModel(choice.name, provider=OllamaProvider(**where))
    return OpenAIChatModel(choice.name, provider=OpenAIProvider(**where))


def settings(choice: Choice, most_output: int) -> ModelSettings:
    if choice.kind == "anthropic":
        # The beginning of a conversation is sent with each request: what the maker has kept of it costs a tenth.
        return AnthropicModelSettings(max_tokens=most_output, anthropic_cache=True)
    return ModelSettings(max_tokens=most_output)
