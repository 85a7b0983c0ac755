"""Pages that lie over the others: the verdict in full, and the keys."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from rankandfile.render.card import card

from .rows import ExplorerRows

HELP = """\
Tab, Shift+Tab   from pane to pane: ranks, calls, stack, source
Up, Down         from row to row; Page Up and Down, Ctrl+Home and Ctrl+End too
d                jump to the call at which the ranks went different ways
c                go to the next culprit
u                go to the first call of this rank that did not end
/                search: `rank 12`, `#812`, an operation, a file, a function, a group
n, N             next, previous match
s                between the stack of the call and where the rank's host stood
v                the verdict in full
q                leave
"""

#: As wide as the page is: so many columns at most, else this share of the window, less its border and what scrolls it.
_WIDEST, _SHARE, _EDGES = 104, 0.96, 6


class Words(ModalScreen[None]):
    """A page over the others; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,v,question_mark,enter", "dismiss", "close", show=True)
    ]

    def __init__(self, title: str, rows: ExplorerRows | None = None) -> None:
        super().__init__()
        self._title, self._subject = title, rows

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Static(Text(self._title, style="bold"))
            if self._subject is None:
                yield Static(Text(HELP))
            else:
                width = min(_WIDEST, int(self.app.size.width * _SHARE)) - _EDGES
                yield Static(
                    card(self._subject.diagnosis, width=width, verbose=True, asked=self._subject.asked)
                )
        yield Footer()
