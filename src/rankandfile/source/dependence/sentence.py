"""The chain of a value in plain English: "`a` is set at f.py:3 from `b`, which is ..., and never reduced"."""

from __future__ import annotations

from .value import Link, Value

MOST_CLAUSES = 4
_ENDS = {
    "local_data": "and never reduced",
    "rank_api": "",
    "shard_length": "",
}
_UNAGREED = "and the ranks never agree on it"


def sentence(value: Value) -> str:
    """Empty if the value has no chain that supports a claim."""
    if not value.differs or not value.chain:
        return ""
    links = _told(list(value.chain))
    words = ""
    for number, link in enumerate(links):
        if not number:
            words = (
                f"`{link.subject}` {link.verb}"
                if link.subject != "the exception"
                else f"the exception {link.verb}"
            )
        elif link.subject == links[number - 1].mention:
            words += f", which {link.verb}"
        else:
            words += f"; there `{link.subject}` {link.verb}"
    if value.agreed:
        groups = " and ".join(f"`{group}`" for group in sorted(value.agreed))
        return f"{words}, reduced over {groups} only"
    end = _ENDS.get(value.source, _UNAGREED)
    return f"{words}, {end}" if end else words


def _told(links: list[Link]) -> list[Link]:
    """Two clauses from the decision, and the last ones: the middle of a long chain is in the steps.

    Whose data a loader holds says enough; how the loader came by it is in the steps as well.
    """
    own = next((number for number, link in enumerate(links, 1) if "this rank" in link.verb), len(links))
    links = links[:own]
    if len(links) <= MOST_CLAUSES:
        return links
    return [*links[: MOST_CLAUSES - 2], *links[-2:]]
