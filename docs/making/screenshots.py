"""Makes the pictures of the README and of the site from an incident of the lab: `make screenshots`.

The terminal's is an SVG that Rich writes, without its web font: always the same for the same answer, so a test can
compare it. The page's is a PNG of headless Chromium, which is not; without Chromium it is left as it is.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from rankandfile import __version__
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import Pictures
from rankandfile.pipeline import Options, run
from rankandfile.reason.pictures import pictures
from rankandfile.render.card import card
from rankandfile.render.report import page
from rankandfile.render.words import UNICODE

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
INCIDENT = Path("examples/early-stop")
_WIDTH = 100
#: A telephone shows so many columns that can be read.
PHONE = 46
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_THEME = TerminalTheme(
    (23, 27, 33),
    (222, 228, 235),
    [
        (23, 27, 33), (255, 138, 76), (79, 208, 172), (240, 189, 87),
        (127, 189, 242), (214, 157, 220), (110, 200, 210), (222, 228, 235),
    ],
)  # fmt: skip

#: As Rich's own, but for the web font, the buttons of a window and a name that changes with the content.
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas,
  monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def _diagnosed(source: bool) -> tuple[Diagnosis, Pictures]:
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        sources = (INCIDENT / "src",) if source else ()
        result = run([INCIDENT / "evidence"], Options(sources=sources, jobs=1))
        return result.diagnosis, pictures(result.facts, result.diagnosis)
    finally:
        os.chdir(before)


def answer(width: int = _WIDTH) -> str:
    """What `raf diagnose ... --src ...` shows on a terminal with colours that has so many columns."""
    diagnosis, _ = _diagnosed(source=True)
    console = Console(
        file=io.StringIO(), width=width, record=True, force_terminal=True, color_system="truecolor",
        highlight=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    console.print(
        f"[bold]$[/] raf diagnose {INCIDENT}/evidence --src {INCIDENT}/src\n", soft_wrap=width == _WIDTH
    )
    console.print(card(diagnosis, UNICODE, width))
    svg = console.export_svg(title="", theme=_THEME, code_format=_FORMAT, unique_id="raf")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def report(browser: str, into: Path) -> None:
    from playwright.sync_api import sync_playwright

    # Without its source the verdict is short, and the calls of the ranks are on the picture too.
    diagnosis, shown = _diagnosed(source=False)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        html = Path(folder, "report.html")
        html.write_text(page(diagnosis, shown, __version__), encoding="utf-8")
        opened = playwright.chromium.launch(
            executable_path=browser, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        tab: Any = opened.new_page(viewport={"width": 1100, "height": 1180}, color_scheme="light")
        tab.goto(html.as_uri())
        tab.wait_for_selector("html[data-ready=yes]")
        tab.screenshot(path=str(into))
        opened.close()


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "answer.svg").write_text(answer(), encoding="utf-8")
    (IMAGES / "answer-phone.svg").write_text(answer(PHONE), encoding="utf-8")
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        sys.stderr.write(f"no browser ({', '.join(_BROWSERS)}): report.png is left as it is\n")
    else:
        report(browser, IMAGES / "report.png")


if __name__ == "__main__":
    main()
