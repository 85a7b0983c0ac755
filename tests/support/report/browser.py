"""A headless Chromium for the tests, and what they watch on a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: Set where a missing browser must be an error, not a skip.
REQUIRED = "RAF_BROWSER_REQUIRED"


def chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def required() -> bool:
    return bool(os.environ.get(REQUIRED))


@dataclass
class Watched:
    page: Any
    complaints: list[str] = field(default_factory=list)
    """What the console and uncaught exceptions said."""
    requests: list[str] = field(default_factory=list)


@contextmanager
def watched(browser: Any, path: Path, **context: Any) -> Iterator[Watched]:
    """The page opened from the disk, with everything noted that it says or asks for."""
    with watched_at(browser, path.as_uri(), **context) as found:
        yield found


@contextmanager
def watched_at(browser: Any, url: str, **context: Any) -> Iterator[Watched]:
    """The same of a page at an address."""
    opened = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
    page = opened.new_page()
    found = Watched(page)
    page.on("console", lambda message: found.complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.complaints.append(f"exception: {error}"))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(url)
    page.wait_for_selector("html[data-ready=yes]")
    try:
        yield found
    finally:
        opened.close()
