"""What tokens cost: as the person says, or as the price list that comes with the library has it."""

from __future__ import annotations

from dataclasses import dataclass

from .choice import Choice


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


def read(text: str) -> Price:
    """`3,15`: of what is sent, of what comes back. Raises ValueError."""
    first, comma, second = text.partition(",")
    price = Price(float(first), float(second if comma else first))
    if not (0 <= price.input < 1e6 and 0 <= price.output < 1e6):
        raise ValueError(text)
    return price


def known(choice: Choice) -> Price | None:
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
