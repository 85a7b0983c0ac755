"""The report of a large job in a browser: how big, how long to write, how soon on the screen, how fast to zoom.

Two pages: that of generated dumps, where ranks do alike, and the worst a job of that size can be, where no two ranks
made the same calls.

    python benchmarks/report.py --docs docs/performance.md
    python benchmarks/report.py --ranks 256 --calls 500        # a quick look
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from pages import write_block
from playwright.sync_api import sync_playwright
from unlike_ranks import unlike

from rankandfile import __version__
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import Pictures
from rankandfile.pipeline import run
from rankandfile.reason.pictures import pictures
from rankandfile.render.report import page

HERE = Path(__file__).parent
BEGIN, END = "<!-- report: written by benchmarks/report.py -->", "<!-- report: end -->"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync"]  # fmt: skip

FIRST_PAINT = """() => new Promise((done) => new PerformanceObserver((list) => {
  const paint = list.getEntriesByName('first-contentful-paint')[0];
  if (paint) done(paint.startTime);
}).observe({ type: 'paint', buffered: true }))"""

#: From the key to the frame after the one that it was drawn in.
ZOOM = """(key) => new Promise((done) => {
  const began = performance.now();
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => done(
    [performance.now() - began, Number(document.getElementById('canvas').dataset.paint)])));
})"""


@dataclass
class Result:
    name: str
    megabytes: float
    write_s: float
    paint_ms: float
    ready_ms: float
    read_ms: float
    zoom_ms: float
    draw_ms: float


def generated(folder: Path, ranks: int, calls: int) -> tuple[Diagnosis, Callable[[], Pictures]]:
    dumps = folder / f"{ranks}x{calls}"
    if not dumps.exists():
        command = [sys.executable, str(HERE / "generate.py"), "--ranks", str(ranks), "--calls", str(calls)]
        subprocess.run([*command, "--out", str(dumps)], check=True, stdout=subprocess.DEVNULL)
    result = run([dumps])
    return result.diagnosis, lambda: pictures(result.facts, result.diagnosis)


def write(diagnosis: Diagnosis, draw: Callable[[], Pictures], path: Path) -> float:
    began = time.perf_counter()
    path.write_bytes(page(diagnosis, draw(), __version__).encode("utf-8", "replace"))
    return time.perf_counter() - began


def look(browser: Any, path: Path, repeat: int) -> tuple[float, float, float, float, float]:
    """Medians: first paint, ready, and read to the end after opening; then, all ranks shown, a zoom and its drawing."""
    paints, readies, reads, zooms, draws = [], [], [], [], []
    for _ in range(repeat):
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready=yes]")
        paints.append(tab.evaluate(FIRST_PAINT))
        tab.wait_for_load_state("domcontentloaded")
        readies.append(tab.evaluate("performance.getEntriesByName('ready')[0].startTime"))
        reads.append(tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"))
        tab.locator("#sheet").select_option(index=tab.locator("#sheet option").count() - 1)
        tab.locator("#by-rank").click()
        for key in ("0", "+", "+", "+", "+", "+", "-", "-", "-", "-", "-"):
            took, drew = tab.evaluate(ZOOM, key)
            zooms.append(took)
            draws.append(drew)
        tab.close()
    median = statistics.median
    return median(paints), median(readies), median(reads), median(zooms), median(draws)


def lines(results: list[Result], ranks: int, calls: int, command: str, versions: str) -> list[str]:
    processors = len(os.sched_getaffinity(0))
    return [
        f"`{command}`: {ranks:,} ranks × {calls:,} calls; {versions}; {processors} processors; medians.",
        "",
        "| | size | written in | first paint | answers | read to the end | a zoom, key to frame | of that, drawing |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {r.name} | {r.megabytes:.2f} MB | {r.write_s:.2f} s | {r.paint_ms:.0f} ms | {r.ready_ms:.0f} ms "
            f"| {r.read_ms:.0f} ms | {r.zoom_ms:.0f} ms | {r.draw_ms:.0f} ms |"
            for r in results
        ),
        "",
        "Written in: from the diagnosis to the file, the pictures worked out from all calls. Answers: the verdict "
        "and the first rows are there, and mouse and keyboard work. Zooms are of the view of all ranks.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="keep the generated dumps and the pages here")
    parser.add_argument("--docs", type=Path, help="rewrite the block of this page")
    arguments = parser.parse_args()
    chromium = next((path for name in NAMES if (path := shutil.which(name))), None)
    if chromium is None:
        raise SystemExit(f"none of {', '.join(NAMES)} is installed")
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        diagnosis, draw = generated(folder, arguments.ranks, arguments.calls)
        rare = msgspec.structs.replace(draw(), score=unlike(arguments.ranks, arguments.calls))
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        results = []
        for name, how in (("ranks that do alike", draw), ("no two ranks alike", lambda: rare)):
            path = folder / f"{name.replace(' ', '-')}.html"
            took = min(write(diagnosis, how, path) for _ in range(arguments.repeat))
            results.append(
                Result(name, path.stat().st_size / 1e6, took, *look(browser, path, arguments.repeat))
            )
        versions = f"Chromium {browser.version.partition('.')[0]}, headless, no GPU"
        browser.close()
    command = f"python benchmarks/report.py --ranks {arguments.ranks} --calls {arguments.calls}"
    body = lines(results, arguments.ranks, arguments.calls, command, versions)
    print("\n".join(body))
    if arguments.docs:
        write_block(arguments.docs, BEGIN, END, body, "The report in a browser")


if __name__ == "__main__":
    main()
