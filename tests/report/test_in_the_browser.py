"""The page as a person uses it: it opens, it answers to mouse and keyboard, and it keeps to itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.places import TESTS
from support.report.browser import watched
from support.report.jobs import CASES, Case, drawn, simulate, write_page
from support.selected import in_lab

from rankandfile.model.diagnosis import Culprit, Excerpt, ExcerptLine, Probe, Remedy

pytestmark = pytest.mark.slow

#: Where the columns begin in the score, and the height of its ruler.
GUTTER, RULER = 164, 26

CONTRASTS = (TESTS / "support" / "report" / "contrasts.js").read_text(encoding="utf-8")
MISFITS = (TESTS / "support" / "report" / "misfits.js").read_text(encoding="utf-8")


EXCERPT = Excerpt(
    file="trainer.py", function="fit", cohorts=["0,1,3", "2"], note="One file has changed since.",
    lines=[
        ExcerptLine(number=47, text="        if val_loss < 0.1:", cohorts=[0, 1], mark="condition"),
        ExcerptLine(number=48, text="            return", cohorts=[1]),
        ExcerptLine(number=49, text="        dist.broadcast(state, 0)", cohorts=[0], mark="call"),
    ],
)  # fmt: skip

#: Ranks that parted, groups that wait for groups, a process that is gone, and a job that does not hang.
HERE = ("early-stop", "tp-dp-cascade", "killed-oom", "healthy-ddp")


@pytest.mark.parametrize("name", in_lab([*CASES], HERE))
def test_a_case_opens_and_answers(browser: Any, case_of: Callable[[str], Case], name: str) -> None:
    diagnosis, shown, path = case_of(name)
    with watched(browser, path) as seen:
        page = seen.page
        assert page.locator("h1").count() == 1
        sentence = page.locator(".sentence").first.inner_text()
        assert " ".join(diagnosis.verdicts[0].sentence.split()) in " ".join(sentence.split())
        if shown.score.sheets:
            use_the_score(page)
        if page.locator(".sentence .cite").count():
            follow_a_claim_and_come_back(page)
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith("data:")] == [path.as_uri()]


def use_the_score(page: Any) -> None:
    page.locator("#canvas").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    x, y = find_a_call(page, box)
    said = page.locator("#tip").inner_text()
    assert "rank" in said and any(state in said for state in ("issued", "started", "completed", "ended"))
    page.mouse.click(x, y)
    assert page.locator("#call h3").is_visible()
    assert "rank" in page.locator("#call").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#call").is_visible()

    before = pixels(page)
    page.keyboard.press("0")
    page.keyboard.press("+")
    page.keyboard.press("+")
    settle(page)
    assert pixels(page) != before, "zooming changed nothing"

    page.locator("#canvas").focus()
    page.keyboard.press("Home")
    first = page.locator("#said").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#said").inner_text() != first
    page.keyboard.press("Enter")
    assert page.locator("#call h3").is_visible()


def find_a_call(page: Any, box: dict[str, float]) -> tuple[float, float]:
    """Point at the rows, from the right to the left, until a call answers: a culprit may have none."""
    for row in range(8):
        y = box["y"] + RULER + 14 + row * 24
        for part in (0.97, 0.8, 0.6, 0.3, 0.02):
            x = box["x"] + GUTTER + (box["width"] - GUTTER) * part
            page.mouse.move(x, y)
            tip = page.locator("#tip")
            if tip.is_visible() and "no call" not in tip.inner_text():
                return x, y
    raise AssertionError("no call under the mouse anywhere")


def follow_a_claim_and_come_back(page: Any) -> None:
    link = page.locator(".sentence .cite").first
    cited = link.inner_text()
    link.click()
    target = page.locator(":target")
    assert target.locator(".id").inner_text() == cited
    assert target.locator("blockquote").inner_text()
    target.locator(".back a").first.click()
    assert page.locator(":target").get_attribute("id") == "v1"


def pixels(page: Any) -> str:
    """What is painted, once all that was asked for is."""
    settle(page)
    return str(page.evaluate("document.getElementById('canvas').toDataURL()"))


def settle(page: Any) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_the_shift_is_made_visible(browser: Any, case_of: Callable[[str], Case]) -> None:
    """One rank reduces a call too many: aligned, the others have a hole there, and what follows falls into place."""
    _, shown, path = case_of("extra-window-same-shape")
    assert shown.score.sheets[0].diverged_at == 21
    with watched(browser, path, reduced_motion="reduce") as seen:
        page = seen.page
        page.locator("#canvas").focus()
        page.keyboard.press("ArrowDown")
        assert "#21" in page.locator("#said").inner_text()
        assert "most ranks: all_reduce optimizer.py:49" in page.locator("#said").inner_text()
        before = pixels(page)
        page.keyboard.press("a")
        settle(page)
        assert page.locator("#align").get_attribute("aria-pressed") == "true"
        assert pixels(page) != before
        page.keyboard.press("a")
        settle(page)
        assert pixels(page) == before


def test_finding_a_rank_a_call_and_a_place(browser: Any, case_of: Callable[[str], Case]) -> None:
    with watched(browser, case_of("extra-window-same-shape")[2]) as seen:
        page = seen.page
        for query, answer in (("5", "0-2,4-7"), ("#8", "#8"), ("metrics.py:10", "metrics.py:10")):
            page.keyboard.press("/")
            page.keyboard.type(query)
            page.keyboard.press("Enter")
            assert answer in page.locator("#said").inner_text()
            page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("nowhere.py")
        assert "missed" in page.locator("#find").get_attribute("class")


def test_search_goes_from_match_to_match_and_says_what_is_not_there(
    browser: Any, case_of: Callable[[str], Case]
) -> None:
    with watched(browser, case_of("extra-window-same-shape")[2]) as seen:
        page = seen.page
        page.keyboard.press("/")
        page.keyboard.type("optimizer.py")
        found = []
        for _ in range(4):
            page.keyboard.press("Enter")
            found.append(page.locator("#said").inner_text())
        assert all("optimizer.py" in said for said in found)
        assert len(set(found)) == 4, "each time the next one"
        before = pixels(page)
        page.keyboard.press("Escape")
        settle(page)
        assert pixels(page) != before, "what was not found is no longer pale"
        page.keyboard.press("/")
        page.keyboard.type("#9999")
        page.keyboard.press("Enter")
        assert page.locator("#said").inner_text() == "#9999 is not in this score"
        assert seen.complaints == []


def test_ranks_in_the_text_lead_to_the_score(browser: Any, case_of: Callable[[str], Case]) -> None:
    with watched(browser, case_of("early-stop")[2]) as seen:
        seen.page.locator(".who .ranks").first.click()
        assert "rank 2 is marked" in seen.page.locator("#said").inner_text()
        seen.page.locator("#waits .box.culprit").click()
        assert "rank 2 is marked" in seen.page.locator("#said").inner_text()


def test_code_and_patches_are_shown_and_copied(
    browser: Any, case_of: Callable[[str], Case], tmp_path: Path
) -> None:
    diagnosis, shown, _ = case_of("early-stop")
    patch = "--- a/trainer.py\n+++ b/trainer.py\n@@ -47 +47 @@\n-    if val_loss < 0.1:\n+    if agreed(val_loss):\n"
    remedy = Remedy(title="Agree first", text="Reduce the flag.", diff=patch)
    best = replace(diagnosis.verdicts[0], excerpts=[EXCERPT], remedies=[remedy])
    with_code = replace(diagnosis, verdicts=[best])
    path = write_page(with_code, shown, tmp_path / "report.html")
    with watched(browser, path, permissions=["clipboard-read", "clipboard-write"]) as seen:
        page = seen.page
        assert "they diverge here" in page.locator("#source tr.is-condition").inner_text()
        passed = "(row) => [...row.querySelectorAll('td.way')].map((one) => one.textContent.trim())"
        rows = page.locator("#source tbody tr")
        assert [rows.nth(i).evaluate(passed) for i in range(3)] == [
            ["passed", "passed"],
            ["", "passed"],
            ["passed", ""],
        ]
        assert [page.locator(f".diff .{kind}").count() for kind in ("head", "del", "add")] == [2, 1, 1]
        page.locator(".diff-box .copy").click()
        # Asked from outside: the page's own policy forbids what a function to wait for would need.
        page.locator("#said", has_text="Copied").wait_for(state="attached")
        assert page.evaluate("navigator.clipboard.readText()") == patch
        assert seen.complaints == []


def test_the_keyboard_alone_is_enough(browser: Any, case_of: Callable[[str], Case]) -> None:
    with watched(browser, case_of("early-stop")[2]) as seen:
        page = seen.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.id"))
        assert {"theme", "keys", "sheet", "canvas", "by-rank", "find"} <= reached
        page.locator("h1").click()
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#help").is_visible()
        page.keyboard.press("3")
        assert page.evaluate("location.hash") == "#waits"


def test_a_screen_reader_finds_its_way(browser: Any, case_of: Callable[[str], Case]) -> None:
    with watched(browser, case_of("tp-dp-cascade")[2]) as seen:
        page = seen.page
        assert page.locator("html").get_attribute("lang") == "en"
        for landmark in ("main", "nav", "header.bar", "footer"):
            assert page.locator(landmark).count() == 1
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll('button, select, input, #canvas, svg, section, [role=region]')]
            .filter((e) => e.getAttribute('aria-hidden') !== 'true')
            .filter((e) => !e.getAttribute('aria-label') && !e.textContent.trim() && !e.labels?.length)
            .filter((e) => !e.getAttribute('aria-labelledby'))
            .map((e) => e.outerHTML.slice(0, 80))"""
        )
        assert unnamed == []
        dangling = page.evaluate(
            """() => [...document.querySelectorAll('[aria-labelledby], [aria-describedby], a[href^="#"]')]
            .flatMap((e) => ['aria-labelledby', 'aria-describedby', 'href'].map((name) => e.getAttribute(name)))
            .map((id) => id?.replace(/^#/, ''))
            .filter((id) => id && !document.getElementById(id))"""
        )
        assert dangling == []
        page.locator(".table-of-score summary").click()
        words = page.locator(".table-of-score table").inner_text()
        assert "all_reduce layers.py:32, issued" in words and "none" in words
        assert "rank 5" in page.locator("svg.graph").get_attribute("aria-label")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, case_of: Callable[[str], Case], theme: str) -> None:
    with watched(browser, case_of("killed-oom")[2], color_scheme=theme) as seen:
        page = seen.page
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.locator("#canvas").focus()
        page.keyboard.press("Enter")
        checked, low = page.evaluate(CONTRASTS)
        assert checked > 100
        assert low == []


def test_the_switch_overrules_the_system(browser: Any, case_of: Callable[[str], Case]) -> None:
    with watched(browser, case_of("early-stop")[2], color_scheme="light") as seen:
        page = seen.page
        ground = "getComputedStyle(document.body).backgroundColor"
        light, before = page.evaluate(ground), pixels(page)
        page.locator("#theme").click()
        assert page.evaluate(ground) == light
        page.locator("#theme").click()
        settle(page)
        assert page.evaluate(ground) != light
        assert pixels(page) != before
        page.emulate_media(media="print")
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
            == "rgb(255, 255, 255)"
        )
        assert not page.locator(".toolbar").first.is_visible()


def with_long_patches(diagnosis: Any) -> Any:
    patch = (
        "--- a/trainer.py\n+++ b/trainer.py\n@@ -1 +1 @@\n" + "+    " + "guard.agree(flag) and " * 20 + "\n"
    )
    best = replace(
        diagnosis.verdicts[0],
        sentence="They parted by `if <b>loss</b> > 1:` here.",
        culprits=[Culprit(rank=rank, host="node00", doing="went on") for rank in (4, 5, 6, 7)],
        remedies=[Remedy(title="Agree first", text="Reduce `flag` first.", diff=patch)],
        probes=[Probe(title="Is it the same?", text="Ask.", diff=patch)],
    )
    return replace(diagnosis, verdicts=[best])


def test_long_patches_scroll_on_the_screen_and_wrap_on_paper(
    browser: Any, case_of: Callable[[str], Case], tmp_path: Path
) -> None:
    diagnosis, shown, _ = case_of("early-stop")
    path = write_page(with_long_patches(diagnosis), shown, tmp_path / "report.html")
    with watched(browser, path, viewport={"width": 360, "height": 700}) as seen:
        page = seen.page
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for name in ("#verdict", ".card", ".do"):
            wide = f"(() => {{ const e = document.querySelector('{name}'); return e.scrollWidth - e.clientWidth; }})()"
            assert page.evaluate(wide) <= 0, name
        assert page.evaluate("document.querySelector('.card').getBoundingClientRect().right") <= 360
        page.emulate_media(media="print")
        assert (
            page.evaluate(
                "(() => { const e = document.querySelector('.diff'); return e.scrollWidth - e.clientWidth; })()"
            )
            <= 0
        )


def test_culprits_that_did_alike_are_one_line_and_code_is_set_as_code(
    browser: Any, case_of: Callable[[str], Case], tmp_path: Path
) -> None:
    diagnosis, shown, _ = case_of("early-stop")
    path = write_page(with_long_patches(diagnosis), shown, tmp_path / "report.html")
    with watched(browser, path) as seen:
        page = seen.page
        assert page.locator(".who .culprit").count() == 1
        assert page.locator(".who .culprit").inner_text() == "ranks 4-7 on node00: went on"
        assert page.locator(".sentence code").first.inner_text() == "if <b>loss</b> > 1:"
        assert page.locator(".sentence b").count() == 0
        assert page.locator(".remedy p code").first.inner_text() == "flag"


@pytest.mark.parametrize("width", [360, 768, 1024, 1440])
@pytest.mark.parametrize("name", in_lab([*CASES], HERE))
def test_it_fits_a_window_of_any_width(
    browser: Any, case_of: Callable[[str], Case], tmp_path: Path, name: str, width: int
) -> None:
    diagnosis, shown, _ = case_of(name)
    long = replace(EXCERPT.lines[0], text=f"        if val_loss < {'0.1 + ' * 20}0.1:")
    best = replace(diagnosis.verdicts[0], excerpts=[replace(EXCERPT, lines=[long, *EXCERPT.lines[1:]])])
    with_code = replace(diagnosis, verdicts=[best, *diagnosis.verdicts[1:]])
    page = write_page(with_code, shown, tmp_path / "report.html")
    with watched(browser, page, viewport={"width": width, "height": 700}) as seen:
        seen.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert seen.page.evaluate(MISFITS) == []


def test_of_what_is_open_the_page_says_at_once_what_would_tell(browser: Any, tmp_path: Path) -> None:
    """Where the cause is open the next step is the answer, and not below a fold."""
    diagnosis, shown = drawn(simulate("blocked-save", tmp_path / "job") / "evidence" / "dumps")
    assert (diagnosis.verdicts[0].cause, diagnosis.verdicts[0].confidence) == ("undetermined", "established")
    with watched(browser, write_page(diagnosis, shown, tmp_path / "report.html")) as seen:
        assert seen.page.get_by_text("py-spy dump --pid PID").first.is_visible()
