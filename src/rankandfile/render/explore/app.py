"""The explorer: ranks, calls, the stack and the source side by side, by keyboard."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, ScrollableContainer, Vertical
from textual.widgets import DataTable, Footer, Input, Static

from rankandfile.render.words import plain, short

from . import panes
from .pages import Words
from .rows import CallRow, ExplorerRows, RankRow

_WIDE = 100
"""Columns of a terminal from which on the ranks' pane has room for what they do."""


_CALLS = ("state", "call", "place", "group", "sizes")
"""The first three are seen in a narrow window; to the others it goes to the right."""


class Explorer(App[None]):
    TITLE = "Rank & File"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #verdict { height: auto; max-height: 6; padding: 0 1; background: $boost; }
    #ranks { width: 24%; min-width: 18; max-width: 34; height: 1fr; }
    #calls { width: 1fr; height: 1fr; }
    #right { width: 1fr; }
    #panes DataTable { scrollbar-size-vertical: 1; }
    #panes > *, #right > * { border: round $foreground 40%; border-title-color: $foreground; }
    #right { border: none; }
    #panes > *:focus, #right > *:focus { border: round $accent; }
    .narrow #panes { layout: grid; grid-size: 2 2; grid-columns: 18 1fr; grid-rows: 4fr 5fr; }
    .narrow #ranks { row-span: 2; width: 100%; }
    .narrow #right { layout: horizontal; }
    .narrow #stack, .narrow #source { height: 1fr; }
    .narrow #stack { width: 2fr; }
    .narrow #source { width: 3fr; }
    #stack-text, #source-text { width: auto; }
    #stack { height: 2fr; }
    #source { height: 3fr; }
    #search { display: none; dock: bottom; }
    #search.asked { display: block; }
    #page { width: 104; max-width: 96%; height: auto; max-height: 90%; border: round $accent; padding: 0 1;
            background: $surface; }
    Words { align: center middle; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "divergence", "diverged"),
        Binding("c", "culprit", "culprit"),
        Binding("u", "unfinished", "open"),
        Binding("slash", "search", "find", key_display="/"),
        Binding("n", "match(1)", "next", show=False),
        Binding("N", "match(-1)", "previous", show=False),
        Binding("s", "stack", "stack"),
        Binding("v", "verdict", "verdict"),
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(self, contents: ExplorerRows) -> None:
        super().__init__()
        self.contents = contents
        self.rows, self.left_out = contents.ranks()
        self.calls: list[CallRow] = []
        self.wanted = ""
        self.of_host = False
        """The stack pane shows where the rank's host stood, not where the call was made."""

    def compose(self) -> ComposeResult:
        yield Static(panes.verdict(self.contents.diagnosis, self.size.width), id="verdict")
        with Horizontal(id="panes"):
            yield DataTable(id="ranks", cursor_type="row", zebra_stripes=True)
            yield DataTable(id="calls", cursor_type="row", zebra_stripes=True)
            with Vertical(id="right"):
                yield ScrollableContainer(Static(id="stack-text"), id="stack")
                yield ScrollableContainer(Static(id="source-text"), id="source")
        yield Input(placeholder="rank 12, #812, all_reduce, trainer.py ...", id="search")
        yield Footer()

    def on_mount(self) -> None:
        ranks, calls = self._table("ranks"), self._table("calls")
        columns = ("rank", "", "doing") if self.size.width >= _WIDE else ("rank", "")
        ranks.add_columns(*columns)
        for row in self.rows:
            style = {"culprit": "bold red", "suspect": "bold red", "": "dim"}.get(row.role, "")
            cells = (Text(str(row.rank), style=style), Text(row.role, style=style), Text(plain(row.doing)))
            ranks.add_row(*cells[: len(columns)])
        left_out = f", {self.left_out:,} more not shown" if self.left_out else ""
        ranks.border_title = f"ranks{left_out}"
        calls.add_columns(*_CALLS)
        self.set_class(self.size.width < _WIDE, "narrow")
        self.query_one("#stack").border_title = "stack"
        ranks.focus()
        if self.rows:
            self._open_rank(0)

    def _table(self, name: str) -> DataTable[Text]:
        return self.query_one(f"#{name}", DataTable)

    @property
    def rank(self) -> RankRow | None:
        at = self._table("ranks").cursor_row
        return self.rows[at] if 0 <= at < len(self.rows) else None

    @property
    def call(self) -> CallRow | None:
        at = self._table("calls").cursor_row
        return self.calls[at] if 0 <= at < len(self.calls) else None

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        if event.data_table.id == "ranks":
            self._show_calls()
        else:
            self._show_stack()

    def _open_rank(self, row: int) -> None:
        ranks = self._table("ranks")
        if ranks.cursor_row == row:
            self._show_calls()
        else:
            # The table then says that another row is highlighted, and the calls follow.
            ranks.move_cursor(row=row)

    def _show_calls(self) -> None:
        rank = self.rank
        table = self._table("calls")
        table.clear()
        self.calls = self.contents.calls(rank.rank) if rank else []
        for call in self.calls:
            style = panes.style(call)
            cells = (panes.state(call), call.name, call.site, call.group, call.sizes)
            table.add_row(*(Text(plain(cell), style=style) for cell in cells))
        table.border_title = f"calls of rank {rank.rank}" if rank else "calls"
        # Where the ranks' pane has no room for it.
        narrow = self.size.width < _WIDE
        table.border_subtitle = plain(rank.doing).replace("[", "\\[") if rank and narrow else ""
        marks = [row for row in (panes.diverged(self.calls), panes.unfinished(self.calls)) if row is not None]
        # Of a rank that waits in no call and did not come to the divergence, its host tells more than its last call.
        missed = bool(marks) and self.calls[marks[0]].made_by is not None
        self.of_host = (not marks or missed) and rank is not None and bool(self.contents.stack_of(rank.rank))
        self._go(marks[0] if marks else len(self.calls) - 1)
        self._show_stack()

    def _go(self, row: int) -> None:
        if 0 <= row < len(self.calls):
            self._table("calls").move_cursor(row=row, scroll=True)

    def _show_stack(self) -> None:
        rank, call = self.rank, self.call
        host = self.contents.stack_of(rank.rank) if rank and (self.of_host or call is None) else ""
        lines = (host or (call.stack if call else "")).splitlines()
        pane = self.query_one("#stack")
        pane.border_title = "where the host stood" if host else panes.stack_title(call) if call else "stack"
        self.query_one("#stack-text", Static).update(panes.stack(lines))
        if host:
            # The innermost frame that can be read: what it called is torch's, more often than not.
            places = panes.own_places(lines)
            self._show_source(*next((one for one in places if self.contents.source(*one)), places[0]))
        else:
            self._show_source(call.file, call.line) if call else self._show_source("", 0)

    def _show_source(self, file: str, line: int) -> None:
        pane = self.query_one("#source", ScrollableContainer)
        lines = self.contents.source(file, line)
        pane.border_title = panes.place_title(file, line, pane.size.width - 4) if file else "source"
        text, here = panes.source(lines, file, line)
        self.query_one("#source-text", Static).update(text)
        # In a narrow pane an indented line would be out of sight.
        indent = 0 if self.size.width >= _WIDE else panes.indent(lines, line)
        pane.scroll_to(x=indent, y=max(0, here - 6), animate=False)

    def action_divergence(self) -> None:
        self._jump(
            panes.diverged(self.calls),
            "This rank has no call where the ranks went different ways: `c` goes to a culprit.",
        )

    def action_unfinished(self) -> None:
        self._jump(panes.unfinished(self.calls), "Every call of this rank that was recorded has ended.")

    def _jump(self, row: int | None, otherwise: str) -> None:
        if row is None:
            self.notify(otherwise)
        else:
            self._go(row)
            self._table("calls").focus()

    def action_culprit(self) -> None:
        row = panes.culprit(self.rows, self._table("ranks").cursor_row)
        if row is None:
            self.notify("No rank is blamed.")
        else:
            self._open_rank(row)

    def action_stack(self) -> None:
        self.of_host = not self.of_host
        rank = self.rank
        if self.of_host and rank is not None and not self.contents.stack_of(rank.rank):
            self.notify("Nobody took a stack of this rank.")
        self._show_stack()

    def action_verdict(self) -> None:
        self.push_screen(Words("The verdict", self.contents))

    def action_help(self) -> None:
        self.push_screen(Words("Keys"))

    def action_search(self) -> None:
        search = self.query_one("#search", Input)
        search.add_class("asked")
        search.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.input.remove_class("asked")
        self.wanted = event.value.strip().lower()
        self._table("calls").focus()
        if self.wanted:
            self._find()

    def on_key(self, event: object) -> None:
        if getattr(event, "key", "") == "escape" and self.query_one("#search").has_class("asked"):
            self.query_one("#search").remove_class("asked")
            self._table("calls").focus()

    def _find(self) -> None:
        word, _, number = self.wanted.partition(" ")
        if word == "rank" and number.isdigit():
            row = panes.rank(self.rows, int(number))
            if row is None:
                self.notify(f"There is no rank {number} in the list.")
            else:
                self._open_rank(row)
            return
        self.action_match(0)

    def action_match(self, step: int) -> None:
        if not self.wanted:
            self.notify("Search for something first: /")
            return
        row = panes.match(self.calls, self.wanted, self._table("calls").cursor_row, step)
        if row is None:
            self.notify(f"No call of this rank has {short(self.wanted)!r}.", markup=False)
        else:
            self._go(row)
