"""`raf report`, and `raf diagnose --report`: the page beside the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

pytestmark = pytest.mark.slow


def test_the_page_is_written_and_named(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    page = tmp_path / "hang.html"
    done = raf("report", other_op, "-o", page)
    assert done.status == 1
    assert "rank 1" in done.out.splitlines()[0]
    assert str(page) in done.err
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "different collective" in text.lower()


def test_the_verdict_comes_first_and_is_the_same(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    alone = raf("diagnose", other_op)
    both = raf("diagnose", other_op, "--report", page)
    assert both.status == alone.status
    # They end with where the page is, or how it is made.
    assert both.out.splitlines()[:9] == alone.out.splitlines()[:9]
    assert str(page) in both.out.splitlines()[-1]
    assert page.stat().st_size > 10_000


def test_with_the_source_the_page_shows_where_they_part(raf: Raf, tmp_path: Path) -> None:
    page, incident = tmp_path / "hang.html", EARLY_STOP
    raf("report", incident / "evidence", "--src", incident / "src", "-o", page)
    text = page.read_text()
    assert "they diverge here" in text
    assert "if self.out_of_patience():" in text
    assert 'class="add"' in text, "a patch"


def test_the_answer_does_not_wait_for_the_page(
    raf: Raf,
    other_op: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shown: list[str] = []

    def page(*_: object) -> str:
        shown.append(capfd.readouterr().out)
        return "<!doctype html>"

    monkeypatch.setattr("rankandfile.render.report.page", page)
    raf("diagnose", other_op, "--report", tmp_path / "report.html")
    (before,) = shown
    assert "rank 1" in before.splitlines()[0]
    assert before.splitlines()[-1].strip(), "the whole card, and not only what filled a buffer"
    assert "proof" in before


@pytest.mark.parametrize("command", [["report", "-o"], ["diagnose", "--report"]])
def test_a_place_that_cannot_be_written_is_one_line(
    raf: Raf, other_op: Path, tmp_path: Path, command: list[str]
) -> None:
    name, option = command
    done = raf(name, other_op, option, tmp_path / "nowhere" / "report.html")
    assert done.status == 2
    (line,) = [line for line in done.err.splitlines() if line.startswith("raf: ")]
    assert "cannot write" in line
