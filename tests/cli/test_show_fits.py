"""Every view of `raf show` as a person meets it: in a window, in a narrow one, in a log without colour or symbols."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

from rankandfile.cli import console
from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow

#: view -> words that it must say of the example, in which rank 2 left the loop
VIEWS = {
    "calls": ["broadcast", "trainer.py:59"],
    "groups": ["default_pg", "0-3"],
    "progress": ["85", "86", "collective"],
    "cohorts": ["0,1,3", "parallel.py:52"],
    "waits": ["broadcast", "all_reduce"],
    "stacks": ["shutdown  parallel.py:52", "culprit"],
    "source": ["if self.out_of_patience():", "> a call"],
    "timeline": ["broadcast", "barrier"],
    "evidence": ["D2#84", "record 84"],
}


def window(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(console.out, "_width", width)
    monkeypatch.setattr(console.err, "_width", width)


def arguments(view: str) -> list[object]:
    more = ["--src", EARLY_STOP / "src"] if view == "source" else ["--rank", "0"] if view == "calls" else []
    return [
        "show",
        view,
        EARLY_STOP / "evidence",
        *more,
        *(["-n", "0"] if view in ("calls", "timeline") else []),
    ]


@pytest.mark.parametrize(
    ("view", "width"),
    [
        *((view, 100) for view in VIEWS),
        *(
            pytest.param(view, 60, marks=() if view in ("calls", "source") else pytest.mark.lab)
            for view in VIEWS
        ),
    ],
)
def test_a_view_fits_and_says_what_it_is_for(
    raf: Raf, monkeypatch: pytest.MonkeyPatch, view: str, width: int
) -> None:
    window(monkeypatch, width)
    done = raf(*arguments(view))
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= width
    together = re.sub(r"\s+", "", done.out)
    missing = [words for words in VIEWS[view] if re.sub(r"\s+", "", words) not in together]
    assert width < 100 or not missing, missing
    assert "85" in together or view not in ("calls", "progress"), "a narrow window has all of it too"
    assert "\x1b" not in done.out


def test_a_table_needs_no_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    import polars as pl

    from rankandfile.render.terminal_table import table

    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Console(file=file, width=60).print(table(pl.DataFrame({"rank": [1], "group": ["mesh_tp"]})))
    file.seek(0)
    assert "mesh_tp" in file.read()


def test_a_job_of_many_ranks_is_cut_and_says_so(
    raf: Raf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = simulate("peers-other-op", tmp_path / "job", ranks=96) / "evidence" / "dumps"
    case = tmp_path / "case"
    assert raf("case", "convert", dumps, "-o", case).status == 0  # seven views of it, which is decoded once
    window(monkeypatch, 120)
    for view in ("calls", "progress", "groups", "waits", "cohorts", "stacks", "timeline"):
        done = raf("show", view, case)
        assert len(done.out.splitlines()) < 130, view
        if view in ("calls", "progress"):
            assert "not shown: filter, or use -n 0" in done.err.replace("\n", " ")


def test_columns_that_say_nothing_are_left_out_of_the_words_and_not_of_the_data(
    raf: Raf, monkeypatch: pytest.MonkeyPatch
) -> None:
    window(monkeypatch, 160)
    shown = raf("show", "waits", EARLY_STOP / "evidence")
    assert "waits for" in shown.out
    assert "still busy" not in shown.out
    assert '"still_busy"' in raf("show", "waits", EARLY_STOP / "evidence", "--format", "json").out
