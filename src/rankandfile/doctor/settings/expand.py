"""Variables in words, as far as the script itself tells their values."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .plain import short
from .shell_scan import LITERAL_DOLLAR, LITERAL_TILDE

_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-=])((?:[^{}]|\$\{[^{}]*\})*))?\})")
_UNEXPANDED = re.compile(rf"{LITERAL_DOLLAR}\{{?[A-Za-z_]\w*\}}?")
_DEEPEST = 3


def expand(text: str, variables: Mapping[str, str], depth: int = _DEEPEST) -> str:
    """The word with what the script assigned put in; what only the machine knows stays ``$NAME``.

    ``${NAME:-default}`` is the default, unless the script assigns NAME: that is what the job gets when nobody says
    otherwise.
    """
    if "$" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        known = variables.get(name)
        if known is not None and (known or not (found[3] or "").startswith(":")):
            return known
        if found[3] and depth:
            return expand(found[4].strip("\"'"), variables, depth - 1)
        return found[0]

    return short(_VARIABLE.sub(value, text))


def settled(text: str) -> tuple[str, str]:
    """A value without marks, and the part of it that quoting kept from being expanded."""
    found = _UNEXPANDED.search(text)
    part = found[0] if found else "~" if text.startswith(LITERAL_TILDE) else ""
    return clean(text), clean(part)


def clean(text: str) -> str:
    """Without the marks of the scanner."""
    return text.replace(LITERAL_DOLLAR, "$").replace(LITERAL_TILDE, "")
