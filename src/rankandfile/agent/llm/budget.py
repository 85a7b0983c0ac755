"""How much an investigation may take: questions to tools, tokens, money, time; held before each request.

Tokens cost what the person says, or what the price list that comes with the library has.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from rankandfile.agent.llm.account import Spent
from rankandfile.agent.llm.choice import Choice

#: The most that one answer may take, and less than which it is not worth asking.
MOST_OUTPUT, LEAST_OUTPUT = 8_192, 256
_CHARACTERS_PER_TOKEN = 3
"""Fewer than any tokenizer needs for English and Python, so that the estimate is rather too high."""

MOST_CHARACTERS_PER_TOKEN = 16
"""More than any answer has: few words take one."""


class OutOfBudget(Exception):
    """The text says of what."""


def estimated(characters: int) -> int:
    return math.ceil(characters / _CHARACTERS_PER_TOKEN)


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


@dataclass
class Budget:
    steps: int = 30
    tokens: int = 400_000
    cost: float | None = None
    seconds: float = 900.0
    price: Price | None = None
    spent: Spent = field(default_factory=Spent)
    _began: float | None = None
    """When the first request was about to be sent."""

    def __post_init__(self) -> None:
        self.spent.cost = None if self.price is None else 0.0

    @property
    def steps_left(self) -> int:
        return self.steps - self.spent.steps

    @property
    def seconds_left(self) -> float:
        return self.seconds - self._elapsed()

    def _elapsed(self) -> float:
        return 0.0 if self._began is None else time.monotonic() - self._began

    def room(self, to_send: int) -> int:
        """How many tokens an answer to a request of so many may have. Raises `OutOfBudget`."""
        if self._began is None:
            self._began = time.monotonic()
        if self.seconds_left <= 0:
            raise OutOfBudget(f"its {self.seconds:g} seconds were used up")
        room = min(MOST_OUTPUT, self.tokens - self.spent.tokens - to_send)
        if room < LEAST_OUTPUT:
            raise OutOfBudget(f"its {self.tokens:,} tokens were used up: the next request would need more")
        if self.cost is not None and self.price is not None and self.price.output > 0:
            left = self.cost - (self.spent.cost or 0.0) - self.price.of(to_send, 0)
            room = min(room, int(left / self.price.output * 1e6))
            if room < LEAST_OUTPUT:
                raise OutOfBudget(f"its ${self.cost:g} were used up: the next request would cost more")
        return room

    def took(self, input_tokens: int, output_tokens: int, sent: int, received: int) -> None:
        """What a request used, as the server says, or as its length tells where that says nothing."""
        if input_tokens + output_tokens <= 0:
            input_tokens, output_tokens, self.spent.estimated = sent, estimated(received), True
        self.spent.requests += 1
        self.spent.input_tokens += max(0, input_tokens)
        self.spent.output_tokens += max(0, output_tokens)
        if self.price is not None:
            self.spent.cost = self.price.of(self.spent.input_tokens, self.spent.output_tokens)

    def close(self) -> Spent:
        self.spent.seconds = round(self._elapsed(), 1)
        return self.spent


def price_of(text: str) -> Price:
    """`3,15`: of what is sent, of what comes back. Raises ValueError."""
    first, comma, second = text.partition(",")
    price = Price(float(first), float(second if comma else first))
    if not (0 <= price.input < 1e6 and 0 <= price.output < 1e6):
        raise ValueError(text)
    return price


def known_price(choice: Choice) -> Price | None:
    """None where nobody knows it. A model on the own machine costs nothing."""
    if choice.kind == "ollama" or choice.local:
        return Price(0.0, 0.0)
    if choice.kind == "url":
        return None
    from genai_prices import Usage, calc_price

    try:
        # The price of a small request: long ones may cost more per token.
        found = [
            calc_price(usage, model_ref=choice.name, provider_id=choice.kind).total_price
            for usage in (Usage(input_tokens=1000), Usage(output_tokens=1000))
        ]
    except LookupError:
        return None
    return Price(float(found[0]) * 1000, float(found[1]) * 1000)
