"""A sentence's long lists of ranks, as people say them: nobody reads two hundred numbers."""

from __future__ import annotations

import re

from .words import LISTED, UNICODE, Signs, said_ranks

_ONE = r"\d+(?:-\d+)?"
_LIST = re.compile(rf"\b(?P<word>[Rr])anks (?P<ranks>{_ONE}(?:(?:, ?| and ){_ONE})+)(?![\w-])")


def spoken(sentence: str, world: int | None, signs: Signs = UNICODE) -> str:
    """
    >>> evens = ", ".join(map(str, range(0, 510, 2)))
    >>> spoken(f"Ranks {evens} and 510 wait, ranks 1 and 3 do not.", 512)
    'The 256 even ranks 0-510 wait, ranks 1 and 3 do not.'
    """

    def said(found: re.Match[str]) -> str:
        ranks = found["ranks"].replace(" and ", ",").replace(" ", "")
        if len(ranks) <= LISTED:
            return found[0]
        try:
            words = said_ranks(ranks, world, signs)
        except ValueError:  # no list of ranks after all
            return found[0]
        return words[:1].upper() + words[1:] if found["word"] == "R" else words

    return _LIST.sub(said, sentence)
