"""One browser for all tests of a process, and the pages of the cases, made when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from report_browser import ARGUMENTS, NAMES, chromium, required
from report_jobs import Case, drawn, evidence_of, write_page


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = chromium()
    if path is None:
        if required():
            pytest.fail(f"none of {', '.join(NAMES)} is installed")
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed (Debian: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    made: dict[str, Case] = {}

    def of(name: str) -> Case:
        if name not in made:
            folder = tmp_path_factory.mktemp("report")
            diagnosis, shown = drawn(evidence_of(name, folder))
            made[name] = diagnosis, shown, write_page(diagnosis, shown, folder / "report.html")
        return made[name]

    return of
