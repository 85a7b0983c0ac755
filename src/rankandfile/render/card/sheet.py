"""What every part of the card is written on: how much room there is, and words made safe for it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.render.long_lists import foldable, spoken
from rankandfile.render.words import PLAIN, Signs, counted, plain, short

from .asked import Asked

Lines = list[RenderableType]
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


class WholeLine(Text):
    """What is copied as one: it is not broken, and begins further left or goes on beyond the window, if need be."""


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
    decided: int = 4
    """Lines of what there is no patch for."""
    why: int = 4
    """Lines of why a condition differs, said in a few words."""
    against: int = 2
    """Lines of what speaks against it."""
    standings: int = 6
    next: int = 3
    """Lines of what would tell more."""
    tight: bool = False
    """What only helps to find one's way is left out."""
    more_beside: bool = False
    """What it rests on and where there is more are one line."""
    narrow: bool = False
    """Of a window in which every sentence takes twice the lines, only the beginning is told; -v has the rest."""


ROOMS = (
    Room(),
    Room(advice=1),
    Room(advice=1, tight=True),
    Room(others=1, advice=1, cohorts=3, tight=True, sentence=7, fix=1),
    Room(others=1, advice=1, cohorts=3, tight=True, sentence=6, fix=1, narrow=True),
    Room(others=1, advice=1, cohorts=3, tight=True, sentence=4, fix=1, standings=3, next=2, narrow=True),
    Room(
        others=1, advice=1, cohorts=3, tight=True, sentence=3, fix=1, standings=3, next=2, decided=3, why=2,
        against=1, narrow=True,
    ),
)  # fmt: skip
WIDE_ROOMS = (
    *(one for one in ROOMS if not one.narrow),
    Room(others=1, advice=1, cohorts=3, tight=True, more_beside=True, sentence=4, fix=1),
    Room(
        others=1, advice=1, cohorts=3, tight=True, more_beside=True, sentence=3, fix=1, decided=3, against=1
    ),
    Room(
        others=1, advice=1, cohorts=3, tight=True, more_beside=True, sentence=2, fix=1, decided=3, against=1,
        standings=3, next=1, why=2,
    ),
    Room(
        others=1, advice=1, cohorts=3, tight=True, more_beside=True, sentence=1, fix=1, decided=3, against=1,
        standings=3, next=1, why=2,
    ),
)  # fmt: skip
"""Of a window in which nothing need be left out for its width: sentences go before what is to be done."""
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
    margin: int = 0
    """Columns of the labels, where sentences may fill them as well."""

    @property
    def left(self) -> int:
        """Of a column of those who did something, left of what they did."""
        return max(10, self.width // 3)

    @property
    def verdict(self) -> Verdict:
        return self.diagnosis.verdicts[0]

    def who_did_what(self) -> Table:
        """A grid of ranks, a mark and what they did, whose lines are broken each in its own column."""
        rows = Table.grid(padding=(0, 1, 0, 0))
        rows.add_column(overflow="fold", max_width=self.left)
        rows.add_column(no_wrap=True)
        rows.add_column(overflow="fold", ratio=1)
        return rows

    def text(self, *words: str, style: str = "") -> Text:
        said = foldable(plain("".join(words)), self.width)
        if self.signs is PLAIN:
            said = said.translate(_ASCII)
        return Text(said, style=style)

    def cut(self, words: str, lines: int = 1, style: str = "", width: int | None = None) -> Text:
        words, most = plain(words), self._most(lines, width or self.width)
        return self.text(
            words if len(words) <= most else f"{_whole(words, most)} {self.signs.more}", style=style
        )

    def fits(self, words: str, lines: int, margin: int = 0) -> bool:
        return len(plain(words)) <= self._most(lines, self.width + margin)

    def _most(self, lines: int, width: int) -> int:
        # Words are not broken: the lines before the last are not full. As much for both kinds of signs.
        lines += width < _NARROW and not self.room.narrow
        return lines * width - len(PLAIN.more) - (lines - 1) * (6 if self.room.narrow else 12)

    def spoken(self, sentence: str) -> str:
        return spoken(sentence, self.diagnosis.job.world_size, self.signs)

    def typed(self, before: str, command: str) -> Lines:
        """A command after a word; where it would be broken, on a line of its own, so that it can be pasted."""
        said = f"{before}: {command}"
        if len(said) <= self.width:
            return [self.text(said, style="dim")]
        return [self.text(f"{before}:", style="dim"), self.whole(command)]

    def whole(self, command: str) -> Text:
        return WholeLine(plain(command), style="dim")

    def side_by_side(self, *said: Lines) -> Lines:
        """In one line; where they do not fit beside each other, below each other: a command is not torn apart."""
        given = [one for one in said if one]
        texts = [one[0].plain for one in given if len(one) == 1 and isinstance(one[0], Text)]
        line = "   ".join(texts)
        if len(texts) == len(given) and len(line) <= self.width:
            return [self.text(line, style="dim")] if line else []
        return [line for one in given for line in one]

    def more(self, left_out: int, one: str, many: str = "", where: str = "") -> list[Text]:
        """``and 3 more waits``, if there are more."""
        if left_out <= 0:
            return []
        number, _, what = counted(left_out, one, many).partition(" ")
        return [self.text(f"and {number} more {what}{where}", style="dim")]

    def ranks(self, ranks: str) -> str:
        return short(ranks, self.signs, _MOST_RANKS)
