"""The options of `raf investigate` that are about a model."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from typer import Option

CONVERSATION = "conversation.jsonl"

Model = Annotated[
    str | None,
    Option(
        "--model",
        metavar="MODEL",
        help="A model investigates further: anthropic:NAME, openai:NAME, google:NAME, ollama:NAME, or the address of "
        "an OpenAI-compatible server with #NAME.",
    ),
]
MaxSteps = Annotated[int, Option("--max-steps", min=1, help="Questions that the model may ask of tools.")]
MaxTokens = Annotated[int, Option("--max-tokens", min=1000, help="Tokens, sent and received.")]
MaxCost = Annotated[float | None, Option("--max-cost", min=0, metavar="USD", help="US dollars.")]
MaxSeconds = Annotated[float, Option("--max-seconds", min=0.1, help="Seconds for the model.")]
PriceOption = Annotated[
    str | None,
    Option(
        "--price",
        metavar="IN,OUT",
        help="US dollars per million tokens, sent and received. Default: the published price, where it is known.",
    ),
]
Redact = Annotated[
    bool,
    Option(
        "--redact", help="Pseudonyms for hosts, users, paths and secrets in all that is sent to the model."
    ),
]
DryRun = Annotated[bool, Option("--dry-run", help="Send nothing: print exactly what would be sent first.")]
Resume = Annotated[bool, Option("--resume", help=f"Go on with the conversation that {CONVERSATION} keeps.")]


class Limits(Struct, frozen=True):
    steps: int
    tokens: int
    cost: float | None
    seconds: float
    price: str | None
