"""What stands before a line's own text: who carried it, when, and from which process.

Prefixes are peeled from the left, in any order, as often as one matches, because carriers are stacked: kubectl over
torchrun over torch's own. Nothing depends on the layer being there. Each is found by its first character, which
keeps a line of ordinary text cheap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rankandfile.evidence.text.envelopes import opened
from rankandfile.evidence.text.prefix_layers import CLOCK, DATE, LAYERS, Give, dated

from .bare_line import BareLine
from .stamps import since_1970

_WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
_CLASSES = {"digit": "0123456789", " digit": " 0123456789", "word": _WORD}


class _Choice:
    """All layers that may begin with a character, as one pattern: most lines' own text is none of them, and learns
    so at once. An empty group behind each tells which of them it was, and how many groups lie before its own."""

    def __init__(self, layers: Sequence[tuple[str, str, Give]]) -> None:
        self.pattern = re.compile("|".join(f"{pattern}()" for _, pattern, _ in layers))
        self.layer: dict[int | None, tuple[str, int, Give]] = {}
        before = 0
        for name, pattern, give in layers:
            last = before + re.compile(pattern).groups + 1
            self.layer[last] = (name, before, give)
            before = last


def _choices() -> dict[str, _Choice]:
    by_first: dict[str, list[tuple[str, str, Give]]] = {}
    for first, name, pattern, give in LAYERS:
        for character in _CLASSES.get(first, first):
            by_first.setdefault(character, []).append((name, pattern, give))
    alike: dict[tuple[str, ...], _Choice] = {}
    return {
        character: alike.setdefault(tuple(pattern for _, pattern, _ in layers), _Choice(layers))
        for character, layers in by_first.items()
    }


_BY_FIRST = _choices()

#: More layers than any stack of carriers has; a line of nothing but prefixes stays bounded.
_DEEPEST = 24
_LONGEST_HOST = 200


_ISO = re.compile(rf"{DATE}[T ]{CLOCK}(?:\.(\d{{1,9}}))?(Z|[+-]\d\d:\d\d)?$")


@lru_cache(maxsize=512)
def peel(line: str) -> BareLine:
    """A line's own text and what stood before it. The same line is asked about by several readers: none changes it."""
    if line.startswith('{"') and line.rstrip().endswith("}") and (found := _unwrapped(line)) is not None:
        return found
    return _peeled(line)


def _peeled(line: str) -> BareLine:
    bare = BareLine(line=line)
    position = 0
    for _ in range(_DEEPEST):
        choice = _BY_FIRST.get(line[position : position + 1])
        if choice is None or (match := choice.pattern.match(line, position)) is None:
            break
        name, before, give = choice.layer[match.lastindex]
        give(bare, match.groups()[before - 1 : match.lastindex] if before else match)
        bare.layers.append(name)
        position = match.end()
    bare.body, bare.start = line[position:], position
    return bare


def _unwrapped(line: str) -> BareLine | None:
    """A line out of the JSON that a collector wrapped around it, with its own prefixes peeled."""
    envelope = opened(line)
    if envelope is None:
        return None
    inner = envelope.text
    bare = _peeled(inner) if not inner.startswith("{") else BareLine(body=inner, line=inner)
    if envelope.time is not None and (match := _ISO.match(envelope.time)):
        dated(bare, match)
    elif envelope.time is not None and envelope.time.isdecimal():
        bare.at(since_1970(envelope.time))
    if bare.rank is None and envelope.rank is not None:
        bare.rank, bare.rank_from = envelope.rank, "prefix"
    if bare.host is None and envelope.host is not None and len(envelope.host) <= _LONGEST_HOST:
        bare.host = envelope.host
    bare.carrier = f"{envelope.carrier}:{bare.carrier}" if envelope.carrier else bare.carrier
    bare.layers.insert(0, "docker")
    return bare
