"""Why a decision can differ between ranks: the answer, with the chain that supports it, and the chain in plain English.

"`a` is set at f.py:3 from `b`, which is computed from this rank's batches only, and it is never reduced"
"""

from __future__ import annotations

from msgspec import Struct

from .value import Level, Link, LinkKind, Value

_ENDS = {
    "local_data": "and it is never reduced",
    "rank_api": "",
    "shard_length": "",
}
_UNAGREED = "and the ranks never agree on it"


class Step(Struct, frozen=True):
    """One place on the way from a decision back to what makes it differ."""

    file: str
    line: int
    subject: str
    words: str
    upon: tuple[str, int] | None = None
    """File and line of the decision upon which something that lives on was changed here, or was not."""
    kind: LinkKind = ""

    @property
    def or_not(self) -> bool:
        """Whether it was done or not, as something decides."""
        return self.kind in ("upon a test", "upon an exception")


class Reason(Struct, frozen=True):
    """`sentence` is empty where the code does not support one."""

    level: Level
    axes: frozenset[str] = frozenset()
    """Mesh axes along which the value varies; only with level "axes"."""
    source: str = ""
    """The kind of source: rank_api, environment, local_data, exception, clock, rng, file_system, shard_length, ..."""
    chain: tuple[Step, ...] = ()
    """From the decision back to the source."""
    sentence: str = ""
    agreed: frozenset[str] = frozenset()
    """Groups over which the value was reduced or broadcast; it can still differ between them."""
    of: str = ""
    """Of a test of several parts, the one that this is about; empty where it is about the whole."""
    or_of: tuple[str, ...] = ()
    """The other parts that may have come out differently as well, for all that the source shows."""


UNKNOWN = Reason("unknown")


def reason_of(value: Value) -> Reason:
    """The value's chain in plain English."""
    if not value.differs:
        return Reason(value.level)
    steps = tuple(
        Step(link.file, link.line, link.subject, f"`{link.subject}` {link.verb}", link.upon, link.kind)
        for link in value.chain
    )
    return Reason(value.level, value.axes, value.source, steps, _sentence(value), value.agreed)


def _sentence(value: Value) -> str:
    """Empty if the value has no chain that supports a claim.

    Three clauses at most: what is asked, what decides that, and where the difference begins. The rest is in the steps.
    """
    if not value.differs or not value.chain:
        return ""
    links = _to_own_data(value.chain)
    words = f"{_subject(links[0])} {links[0].verb}"
    if len(links) > 1:
        words += _next(links[0], links[1])
    if len(links) == 3:
        words += _next(links[1], links[2])
    elif len(links) > 3:
        words += f"; that goes back to {_subject(links[-1])}, which {links[-1].verb}"
    if value.agreed:
        groups = " and ".join(f"`{group}`" for group in sorted(value.agreed))
        return f"{words}, reduced over {groups} only"
    end = "" if links[-1].kind == "own number" else _ENDS.get(value.source, _UNAGREED)
    return f"{words}, {end}" if end else words


_OWN: tuple[LinkKind, ...] = ("own batches", "own shard", "own data")


def _to_own_data(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Whose data a loader holds says enough; how the loader came by it is in the steps."""
    own = next((number for number, link in enumerate(links, 1) if link.kind in _OWN), len(links))
    return links[:own]


def _next(before: Link, link: Link) -> str:
    return f", which {link.verb}" if link.subject == before.mention else f"; {_subject(link)} {link.verb}"


def _subject(link: Link) -> str:
    return link.subject if link.subject == "the exception" else f"`{link.subject}`"
