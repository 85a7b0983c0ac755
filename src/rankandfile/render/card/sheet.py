"""What every part of the card is written on: how much room there is, and words made safe for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from rich.console import RenderableType
from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.render.long_lists import spoken
from rankandfile.render.words import PLAIN, Signs, counted, plain, short

from .asked import Asked

#: A label, and the lines beside it.
Part = tuple[str, Sequence[RenderableType]]

#: Of a narrower window a sentence gets a line more: that of a telephone.
_NARROW = 56
#: What is not broken where a line is cut.
_LONGEST_WORD = 40
#: Of the ranks of one cohort.
_MOST_RANKS = 28

_ASCII = str.maketrans(
    {"←": "<-", "→": "->", "▸": ">", "·": "-", "…": "...", "“": '"', "”": '"', "’": "'", "–": "-"}
)


def _whole(words: str, most: int) -> str:
    """As many whole words as fit; of one that is longer than a name may be, a part."""
    kept = words[: most - 1]
    whole = kept if words[len(kept)].isspace() else kept.rpartition(" ")[0]
    return (whole if whole and len(kept) - len(whole) <= _LONGEST_WORD else kept).rstrip(" ,;:")


class Room(Struct, frozen=True):
    """How much of each part is shown; the first that fits is taken."""

    others: int = 2
    culprits: int = 4
    cohorts: int = 5
    waits: int = 3
    advice: int = 2
    probes: int = 2
    alternatives: int = 2
    missing: int = 2
    proofs: int = 4
    quote_lines: int = 2
    excerpt: int = 14
    sentence: int = 100
    """Lines of it."""
    fix: int = 2
    """Lines of a fix; code that is read as a whole may have one more."""
    tight: bool = False
    """What only helps to find one's way is left out."""


ROOMS = (
    Room(),
    Room(advice=1),
    Room(advice=1, tight=True),
    Room(others=1, advice=1, cohorts=3, tight=True, sentence=7, fix=1),
)
ALL = Room(others=100, culprits=20, cohorts=20, waits=20, advice=20, probes=10, alternatives=20, missing=10, proofs=20,
           quote_lines=3, excerpt=24)  # fmt: skip
"""Of the details, where nothing need fit."""


class Sheet(Struct, frozen=True):
    diagnosis: Diagnosis
    signs: Signs
    width: int
    """Of the column right of the labels."""
    room: Room
    asked: Asked = Asked()

    @property
    def verdict(self) -> Verdict:
        return self.diagnosis.verdicts[0]

    def text(self, *words: str, style: str = "") -> Text:
        said = plain("".join(words))
        if self.signs is PLAIN:
            said = said.translate(_ASCII)
        return Text(said, style=style)

    def cut(self, words: str, lines: int = 1, style: str = "") -> Text:
        words, most = plain(words), self._most(lines)
        return self.text(
            words if len(words) <= most else f"{_whole(words, most)} {self.signs.more}", style=style
        )

    def fits(self, words: str, lines: int) -> bool:
        return len(plain(words)) <= self._most(lines)

    def _most(self, lines: int) -> int:
        # Words are not broken: the lines before the last are not full. As much for both kinds of signs.
        lines += self.width < _NARROW
        return lines * self.width - len(PLAIN.more) - (lines - 1) * 12

    def spoken(self, sentence: str) -> str:
        return spoken(sentence, self.diagnosis.job.world_size, self.signs)

    def typed(self, before: str, command: Callable[[Asked], str]) -> str:
        """A command after a word; as the reader fills it in where it would be broken, and could not be pasted."""
        said = f"{before}: {command(self.asked)}"
        return said if len(said) <= self.width else f"{before}: {command(Asked())}"

    def side_by_side(self, *said: str) -> list[Text]:
        """In one line; where they do not fit beside each other, a line each: a command is not torn apart."""
        line = "   ".join(one for one in said if one)
        return [self.text(one, style="dim") for one in ([line] if len(line) <= self.width else said) if one]

    def more(self, left_out: int, one: str, many: str = "", where: str = "") -> list[Text]:
        """``and 3 more waits``, if there are more."""
        if left_out <= 0:
            return []
        number, _, what = counted(left_out, one, many).partition(" ")
        return [self.text(f"and {number} more {what}{where}", style="dim")]

    def ranks(self, ranks: str) -> str:
        return short(ranks, self.signs, _MOST_RANKS)
