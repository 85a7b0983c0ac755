"""A job of 1,024 ranks: the page opens at once and follows the hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.report.browser import watched
from support.report.jobs import drawn, unlike, write_job, write_page

pytestmark = [pytest.mark.slow, pytest.mark.lab]

CALLS = 48

PAINT = "Number(document.getElementById('canvas').dataset.paint)"


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("big")
    diagnosis, shown = drawn(write_job(folder / "dumps", ranks=1024, calls=CALLS, culprit=700))
    assert [culprit.rank for culprit in diagnosis.verdicts[0].culprits] == [700]
    return write_page(diagnosis, shown, folder / "report.html")


def test_it_stays_responsive(browser: Any, big: Path) -> None:
    assert big.stat().st_size < 1_000_000
    with watched(browser, big) as seen:
        page = seen.page
        page.locator("#by-rank").click()
        assert page.locator("#by-rank").get_attribute("aria-pressed") == "true"
        page.keyboard.press("/")
        page.keyboard.type("700")
        page.keyboard.press("Enter")
        assert "rank 700 (culprit)" in page.locator("#said").inner_text()
        paints = []
        for key in ("0", "+", "+", "+", "-", "-", "d"):
            page.locator("h2").first.click()
            page.keyboard.press(key)
            page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            paints.append(page.evaluate(PAINT))
        # Some 10 ms on an idle machine; a page that draws every call of every rank takes seconds.
        assert sorted(paints)[len(paints) // 2] < 200
        assert seen.complaints == []


def test_the_one_among_a_thousand_is_seen_from_afar(browser: Any, big: Path) -> None:
    with watched(browser, big) as seen:
        page = seen.page
        page.locator("#by-rank").click()
        page.keyboard.press("0")
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        marked = page.evaluate(
            """() => {
              const canvas = document.getElementById('canvas'), pen = canvas.getContext('2d');
              const scale = devicePixelRatio, rows = new Set();
              for (let y = 0; y < canvas.height; y++) {
                const [r, g, b] = pen.getImageData(Math.round(300 * scale), y, 1, 1).data;
                if (r > 180 && g > 60 && g < 130 && b < 60) rows.add(y);
              }
              return [...rows].map((y) => y / canvas.height);
            }"""
        )
        assert marked, "nothing in the culprit's colour"
        assert all(abs(at - (26 + 534 * 700 / 1024) / 560) < 0.05 for at in marked)


@pytest.fixture(scope="module")
def worst(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worst")
    diagnosis, _ = drawn(write_job(folder / "dumps"))
    return write_page(diagnosis, unlike(1024, 2000), folder / "report.html")


TIMES = """() => new Promise((done) => new PerformanceObserver((list) => {
  const painted = list.getEntriesByName('first-contentful-paint')[0];
  const read = performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd;
  if (painted) done([painted.startTime, performance.getEntriesByName('ready')[0].startTime, read]);
}).observe({ type: 'paint', buffered: true }))"""


def test_it_opens_within_a_second_where_no_two_ranks_are_alike(browser: Any, worst: Path) -> None:
    """The best of some, for other work on the machine is not the page's: it takes a third of that on an idle one."""
    best = [float("inf")] * 3
    for _ in range(8):
        with watched(browser, worst) as seen:
            seen.page.wait_for_load_state("domcontentloaded")
            best = [min(pair) for pair in zip(best, seen.page.evaluate(TIMES), strict=True)]
        if max(best) < 1000:
            break
    painted, ready, read = best
    assert painted < 1000
    assert ready < 1000
    assert read < 1000


def test_what_comes_behind_the_script_is_there_too(browser: Any, worst: Path) -> None:
    """The first rows stand before the script, so that it need not wait; the last ones are in the last block."""
    text = worst.read_text()
    assert text.index('id="cells-0-0"') < text.index("<script>") < text.index('id="cells-0-1"')
    with watched(browser, worst) as seen:
        page = seen.page
        page.wait_for_load_state("domcontentloaded")
        page.keyboard.press("/")
        page.keyboard.type("1023")
        page.keyboard.press("Enter")
        assert "rank 1023" in page.locator("#said").inner_text()
        page.locator("#canvas").focus()
        page.keyboard.press("End")
        assert "all_to_all" in page.locator("#said").inner_text()
        page.keyboard.press("Enter")
        assert "1,024" not in page.locator("#call").inner_text(), "each rank has another call there"
        assert "no call" not in page.locator("#call").inner_text()
        assert seen.complaints == []
