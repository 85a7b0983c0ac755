"""Evidence comes from anywhere. Whatever stands in it stays text: on the page, in its data, in tooltips."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.report.browser import watched
from support.report.jobs import Case, drawn, write_job, write_page

pytestmark = pytest.mark.slow

TAG = "<img src=x onerror=window.hacked=1>"
END = "</script><script>window.hacked=1</script>"
FUNCTION = f"average{END}"
FILE = f"/workspace/<svg onload=window.hacked=1>/{TAG.replace('/', '')}.py"
BIDI = "\u202egnp.exe"
DESC = f"\"'><script>window.hacked=1</script>{TAG}"

TRACEBACK = f"""Traceback (most recent call last):
  File "/workspace/train/train.py", line 7, in main
    raise RuntimeError(message)
RuntimeError: {TAG} {END} {{{{ 7*7 }}}} \x1b[31m{BIDI}
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder = tmp_path_factory.mktemp("hostile")
    evidence = folder / "evidence"
    dumps = write_job(evidence / f"dumps {TAG}{BIDI}\u2028", desc=DESC, function=FUNCTION, file=FILE)
    cut = dumps / "nccl_trace_rank_0"
    cut.write_bytes(cut.read_bytes()[:-40])
    logs = evidence / "logs"
    logs.mkdir()
    (logs / "rank_2.log").write_text(TRACEBACK)
    diagnosis, shown = drawn(evidence)
    return diagnosis, shown, write_page(diagnosis, shown, folder / "report.html")


def test_what_was_planted_is_on_the_page(hostile: Case) -> None:
    """Else the next test would prove nothing."""
    diagnosis, shown, path = hostile
    assert FUNCTION in str(shown.score.frames.function)
    assert DESC in shown.score.kinds.group
    assert any(TAG in item.quote for item in diagnosis.evidence)
    assert any(TAG in item.source for item in diagnosis.evidence)
    assert any(TAG in note.file for note in diagnosis.notes)
    assert "RuntimeError" in path.read_text()


def test_nothing_planted_runs(browser: Any, hostile: Case) -> None:
    with watched(browser, hostile[2]) as seen:
        page = seen.page
        page.locator("#canvas").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Enter")
        page.mouse.move(600, 300)
        assert "<img src=x onerror=window.hacked=1>" in page.locator("#call").inner_text()
        for query in (TAG, END):
            page.keyboard.press("/")
            page.locator("#find").fill(query)
            page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        for row in range(60):
            page.mouse.move(400, 10 + row * 14)
        page.wait_for_timeout(100)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        assert page.locator("script:not([type])").count() == 1
        assert page.locator("svg [onload], [onerror], [onload]").count() == 0
        shown = page.locator("main").inner_text()
        assert TAG in shown and "</script><script>window.hacked=1</script>" in shown
        assert "{{ 7*7 }}" in shown
        assert "\u202e" not in shown and "\x1b" not in shown
        assert seen.complaints == []
        assert seen.requests == [hostile[2].as_uri()]


def test_the_policy_stops_what_might_slip_through(browser: Any, hostile: Case) -> None:
    """Should a string ever be taken for markup, the browser still runs and loads nothing of it."""
    with watched(browser, hostile[2]) as seen:
        page = seen.page
        page.evaluate(
            """() => {
              const add = (text) => document.body.insertAdjacentHTML('beforeend', text);
              add('<img src=x onerror="window.hacked=1">');
              add('<b style="color:red" id=styled>x</b>');
              const script = document.createElement('script');
              script.textContent = 'window.hacked = 1';
              document.body.append(script);
            }"""
        )
        assert (
            page.evaluate("fetch('https://example.invalid/').then(() => 'went', () => 'refused')")
            == "refused"
        )
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"
        assert [url for url in seen.requests if url.startswith("http")] == []


def test_the_file_holds_no_markup_of_others(hostile: Case) -> None:
    text = hostile[2].read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert data[1].isascii()
    assert not set("<>&") & set(data[1])
    assert END in str(json.loads(data[1])["frames"]["function"])
    assert "<img" not in text
    scripts = re.findall(r"<script.*?>", text)
    assert scripts.count("<script>") == 1, "one that runs"
    assert all(
        re.fullmatch(r'<script type="text/plain" id="cells-[\d-]+">', one)
        for one in scripts[1:]
        if one != "<script>"
    )


def test_what_a_browser_would_hide_or_obey_is_spelled_out(tmp_path: Path) -> None:
    """Halves of characters (a file name need not be text), turned writing, line ends that only scripts know."""
    diagnosis, shown = drawn(write_job(tmp_path / "job"))
    hidden = "\udcff \u202egnp.exe \u2028 \x1b[31m \u200b"
    diagnosis.verdicts[0].sentence += hidden
    shown.score.frames.function[0] += hidden
    shown.waits.nodes[0].says.append(hidden)
    text = write_page(diagnosis, shown, tmp_path / "report.html").read_text()
    assert not set("\udcff\u202e\u2028\x1b\u200b") & set(text)
    assert text.count("\\udcff \\u202egnp.exe \\u2028 \\x1b[31m \\u200b") > 1
