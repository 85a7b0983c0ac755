"""`raf explore`, driven by keys without a terminal: what a person sees, and that nothing is lost or acted upon."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace
from support.render import hostile
from textual.pilot import Pilot
from textual.widgets import DataTable, Input, Static

from rankandfile.cli.commands.explore import rows
from rankandfile.lab.sim.run import simulate
from rankandfile.pipeline import Options
from rankandfile.render.explore import panes
from rankandfile.render.explore.app import Explorer, Words
from rankandfile.render.explore.rows import MOST_CALLS, ExplorerRows

pytestmark = pytest.mark.slow

Play = Callable[[Pilot[None], Explorer], Awaitable[None]]


def play(of: ExplorerRows, script: Play, size: tuple[int, int] = (120, 30)) -> None:
    async def run() -> None:
        app = Explorer(of)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await script(pilot, app)

    # In a thread of its own: the main one may already run a loop, that of the tests which drive a browser.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result()


def from_case(scenario: str, folder: Path) -> ExplorerRows:
    case = simulate(scenario, folder / scenario)
    return rows([case / "evidence"], Options(sources=(case / "src",), jobs=1))


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> ExplorerRows:
    """Rank 3 reads a file for ever; its stack tells."""
    return from_case("blocked-loader-fsdp", tmp_path_factory.mktemp("blocked"))


@pytest.fixture(scope="module")
def skipped(tmp_path_factory: pytest.TempPathFactory) -> ExplorerRows:
    """Rank 5 skipped two calls."""
    return from_case("skip-nonfinite-ddp", tmp_path_factory.mktemp("skipped"))


def text(app: Explorer, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).render())


def title(app: Explorer, name: str) -> str:
    return str(app.query_one(f"#{name}").border_title)


def cells(app: Explorer, name: str) -> list[str]:
    table = app.query_one(f"#{name}", DataTable)
    return [str(cell) for cell in table.get_row_at(table.cursor_row)]


def test_it_opens_at_the_culprit_and_shows_where_its_host_stands(blocked: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        assert "HANG: rank 3 got stuck" in text(app, "verdict")
        assert cells(app, "ranks")[:2] == ["3", "culprit"]
        assert title(app, "stack") == "where the host stood"
        assert text(app, "stack-text").startswith("_read  ")
        line = next(line for line in text(app, "source-text").splitlines() if line.startswith(">"))
        assert line.split()[:2] == [">", title(app, "source").rpartition(":")[2]]
        await pilot.press("s")
        assert title(app, "stack").endswith("as rank 0 made it"), "of the call that it did not come to"
        # A victim is shown in the call that it waits in.
        await pilot.press("down")
        await pilot.pause()
        assert cells(app, "ranks")[:2] == ["0", "victim"]
        assert title(app, "calls") == "calls of rank 0"
        assert cells(app, "calls")[:3] == ["issued", "_all_gather_base #97", "fsdp.py:20"]

    play(blocked, script)


@pytest.mark.parametrize("size", [(120, 34), (80, 24)])
def test_ranks_calls_stack_and_source_stand_side_by_side(
    skipped: ExplorerRows, size: tuple[int, int]
) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        panes = [app.query_one(f"#{name}").region for name in ("ranks", "calls", "stack", "source")]
        assert all(pane.width >= 18 and pane.height >= 4 for pane in panes)
        assert not any(one.overlaps(other) for one in panes for other in panes if one is not other)
        ranks, calls, stack, source = panes
        assert ranks.right <= min(calls.x, stack.x)
        if size[0] > 100:
            assert calls.right <= stack.x == source.x
        else:
            # A narrow window has no room for three beside each other.
            assert calls.x == stack.x < stack.right <= source.x and calls.bottom <= stack.y == source.y
        assert all(pane.right <= size[0] and pane.bottom < size[1] for pane in panes)
        # The four tell of one call.
        call = app.call
        assert call is not None
        assert call.file.rpartition("/")[2] in text(app, "stack-text")
        assert title(app, "stack") == f"{call.name}, as rank {call.made_by} made it"
        assert f"{call.file}:{call.line}".endswith(title(app, "source").removeprefix("…"))
        assert title(app, "source").endswith(f"{call.file.rpartition('/')[2]}:{call.line}")
        # What is marked is in sight, however narrow the pane and deep the line.
        pane = app.query_one("#source")
        marked = next(line for line in text(app, "source-text").splitlines() if line.startswith(">"))
        begins = marked.index(marked.split()[2])
        assert pane.scroll_x <= begins < pane.scroll_x + pane.size.width - 8

    play(skipped, script, size)


def test_search_by_number_by_place_and_by_group(skipped: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        for wanted in ("#12", "optimizer.py", "default_pg"):
            await pilot.press("slash")
            app.query_one("#search", Input).value = wanted
            await pilot.press("enter")
            await pilot.pause()
            assert app.call is not None
            assert app.call.has(wanted)

    play(skipped, script)


def test_jumping_to_the_parting_and_to_what_did_not_end(skipped: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        assert cells(app, "ranks")[0] == "5"
        await pilot.press("tab", "ctrl+home")
        assert app.query_one("#calls", DataTable).cursor_row == 0
        await pilot.press("d")
        parted = next(number for number, call in enumerate(app.calls) if call.diverged)
        assert app.query_one("#calls", DataTable).cursor_row == parted
        await pilot.press("ctrl+home", "u")
        assert cells(app, "calls")[0] == "issued"

    play(skipped, script)


def test_the_call_that_was_never_made_is_a_row_of_its_own(skipped: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        await pilot.press("d")
        state, call, place = cells(app, "calls")[:3]
        assert (state, place) == ("never made", "optimizer.py:49")
        assert title(app, "stack").startswith(f"{call}, as rank ")
        assert "optimizer.py" in title(app, "source")
        # What the rank made instead comes after it; no other rank has such a row.
        at = app.query_one("#calls", DataTable).cursor_row
        assert app.calls[at].made_by is not None and app.calls[at + 1].made_by is None
        await pilot.press("shift+tab", "down")
        await pilot.pause()
        assert cells(app, "ranks")[1] == "victim"
        assert all(one.made_by is None for one in app.calls)

    play(skipped, script)


def test_eighty_columns_show_how_each_call_went_and_every_key(skipped: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        wanted = ("never made", "diverged", "culprit", "find", "verdict", "help", "quit")
        for _ in range(200):
            shown = app.export_screenshot().replace("&#160;", " ")
            if all(word in shown for word in wanted):
                return
            await pilot.pause(0.05)
        raise AssertionError([word for word in wanted if word not in shown])

    play(skipped, script, (80, 24))


def test_what_is_shown_of_the_verdict_fits_its_window_and_says_where_to_look(skipped: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        words = str(app.query_one("#verdict", Static).render())
        first = words.splitlines()[0]
        assert "rank 5 skipped" in first and "trainer.py" in first
        assert words.endswith("…")
        await pilot.press("v")
        await pilot.pause()
        card = app.export_screenshot(simplify=True).replace("&#160;", " ")
        assert "raf report" in card and "PATH..." not in card and "add -o" not in card

    told = " ".join([skipped.diagnosis.verdicts[0].sentence, "Rank 0 waits for it."] * 9)
    best = replace(skipped.diagnosis.verdicts[0], sentence=told)
    play(replace(skipped, diagnosis=replace(skipped.diagnosis, verdicts=[best])), script, (80, 60))


def test_where_nobody_is_blamed_for_sure_it_opens_all_the_same(tmp_path: Path) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        await pilot.pause()
        assert {row.role for row in app.rows} == {"waits"}
        await pilot.press("c")

    play(from_case("network-stalled", tmp_path), script)


def test_search_finds_calls_and_ranks(skipped: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        table = app.query_one("#calls", DataTable)
        await pilot.press("tab", "ctrl+home", "slash", *"optim", "enter")
        assert not app.query_one("#search", Input).has_class("asked")
        first = table.cursor_row
        assert app.calls[first].has("optim")
        await pilot.press("n")
        second = table.cursor_row
        assert second > first
        assert app.calls[second].has("optim")
        await pilot.press("N")
        assert table.cursor_row == first
        await pilot.press("slash", *"rank 2", "enter")
        await pilot.pause()
        assert title(app, "calls") == "calls of rank 2"
        await pilot.press("slash", *"zz", "enter")
        await pilot.press("slash", "escape")
        assert not app.query_one("#search", Input).has_class("asked")

    play(skipped, script)


def test_keys_are_explained_and_the_verdict_is_there_in_full(blocked: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        await pilot.press("question_mark")
        assert isinstance(app.screen, Words)
        explained = " ".join(str(one.render()) for one in app.screen.query(Static))
        for binding in ("jump to the call", "search", "next culprit"):
            assert binding in explained
        await pilot.press("escape", "v")
        assert isinstance(app.screen, Words)
        await pilot.press("escape")
        assert not isinstance(app.screen, Words)
        await pilot.press("q")

    play(blocked, script)


def test_hostile_words_stay_words(skipped: ExplorerRows) -> None:
    nasty = pl.lit(hostile.NASTY.replace("\ud800", ""))
    case = replace(
        skipped.case,
        frames=skipped.case.frames.with_columns(file=nasty, function=nasty),
        groups=skipped.case.groups.with_columns(desc=nasty),
    )

    async def script(pilot: Pilot[None], app: Explorer) -> None:
        shown = text(app, "stack-text") + " ".join(cells(app, "calls"))
        assert "[red]markup[/red]" in shown
        assert "\x1b" not in shown
        await pilot.press("v", "escape", "down")

    calls = case.calls.filter(pl.col("record") < 12)
    case = replace(case, calls=calls)
    play(ExplorerRows(case, hostile.diagnosis(), lambda path: hostile.NASTY, skipped.stands), script)


def test_a_narrow_window_and_a_long_job(skipped: ExplorerRows) -> None:
    one = skipped.case.calls.filter(pl.col("rank") == 5).head(1)
    many = pl.concat([one] * 5000).with_columns(pl.int_range(5000, dtype=pl.Int64).alias("record"))
    long = replace(skipped, case=replace(skipped.case, calls=many))
    assert len(long.calls(5)) <= MOST_CALLS

    async def script(pilot: Pilot[None], app: Explorer) -> None:
        assert "--src" in text(app, "source-text"), "source that is not at hand is said to be"
        await pilot.press("tab", "d", "u")

    play(replace(skipped, read_source=lambda path: None), script, size=(60, 20))


def test_without_textual_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from rankandfile.cli.commands.explore import explore
    from rankandfile.cli.errors import UserError

    monkeypatch.delitem(sys.modules, "rankandfile.render.explore.app", raising=False)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    with pytest.raises(UserError, match=r"rankandfile\[explore\]"):
        explore([tmp_path])


def test_in_eighty_columns_the_call_its_place_and_what_the_rank_does_are_seen(blocked: ExplorerRows) -> None:
    async def script(pilot: Pilot[None], app: Explorer) -> None:
        calls = app.query_one("#calls", DataTable)
        seen, left = [], calls.content_size.width
        for column in calls.ordered_columns:
            left -= column.get_render_width(calls)
            seen += [str(column.label)] if left >= 0 else []
        assert seen[:3] == ["state", "call", "place"]
        assert app.rows[0].doing and str(calls.border_subtitle) in app.rows[0].doing

    play(blocked, script, (80, 24))


def test_the_source_opens_at_the_programs_own_frame() -> None:
    torch = "/usr/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
    stack = [
        f"barrier  {torch}:4811",
        f"wrapper  {torch}:83",
        "fit  /job/trainer.py:30",
        "main  /job/train.py:9",
    ]
    assert panes.own_places(stack)[:2] == [("/job/trainer.py", 30), ("/job/train.py", 9)]
    assert panes.own_places([]) == [("", 0)]
