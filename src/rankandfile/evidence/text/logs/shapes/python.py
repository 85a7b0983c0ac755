"""Tracebacks, and what a program says of its own numbers and of what it left out. Last in the catalogue: any of the above knows better."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.exceptions import read
from rankandfile.evidence.text.logs.shape import Shape

#: Any other knows better, those without a place of their own too.
ORDER = 1 << 30

SHAPES = (
    Shape(
        "traceback", "P1", "origin", "Traceback (most recent",
        r"Traceback \(most recent call last\)",
        then=read,
    ),
    Shape(
        "nan", "P1", "fact",
        ("loss is nan", "loss: nan", "loss nan", "loss=nan", "loss is NaN", "non-finite", "not finite"),
        r"(?i)\b(?:loss|grad\w*|gradient norm)\b.{0,40}?\b(?:nan|inf|not finite|non-finite)\b|\b(?:nan|non-finite)\b.{0,20}?\b(?:loss|grad\w*)\b",
    ),
    Shape(
        "left_out", "P1", "fact",
        ("skipped", "skipping", "Skipping", "swallowed", "ignored", "ignoring", "Ignoring", "dropped",
         "dropping"),
        r"\b(?P<what>(?:batch|sample|step|micro-?batch|shard|record|exception|error|example|item|file)\w{0,6}.{0,60}?\b(?:[Ss]kipp(?:ed|ing)|[Ii]gnor(?:ed|ing)|swallowed|dropp(?:ed|ing))|(?:[Ss]kipp(?:ed|ing)|[Ii]gnor(?:ed|ing)|swallowed|dropp(?:ed|ing)) .{0,60}?\b(?:batch|sample|step|micro-?batch|shard|record|exception|error|example|item|file)\w{0,6}\b)",
        severe=True,
    ),
)  # fmt: skip
