"""Secrets by which programs and people are let in."""

from __future__ import annotations

from .errors import UserError

SHORTEST = 16


def not_guessed(token: str) -> str:
    """The token. Raises `UserError` for one that is too short."""
    if len(token) < SHORTEST:
        raise UserError(f"a token of fewer than {SHORTEST} characters can be guessed")
    return token
