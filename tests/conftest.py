"""Fixtures that all tests share: decode bytes as a person's file would be, and load a folder of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test
from support import examples
from support.cli.raf_runs import Raf, in_process
from support.evidence.kept_decoders import KeptDecoders
from support.evidence.loading import Decode, LoadFiles
from support.report.browser import ARGUMENTS, NAMES, chromium, required

from rankandfile.evidence.files import pool, worker
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.decoder import Decoder
from rankandfile.evidence.load import load
from rankandfile.model.case import Case

examples.register()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Properties are marked, so that the lab tries them again, on all their examples. Files with real jobs come first:
    one of minutes would else run alone at the end, as files are given to whoever is free."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker("property")
    order: dict[Path, int] = {}
    for item in items:
        own = 0 if "torch" in item.keywords else 1 if "slow" in item.keywords else 2
        order[item.path] = min(own, order.get(item.path, own))
    items.sort(key=lambda item: order[item.path])


@pytest.fixture(scope="session", autouse=True)
def kept_decoders() -> Iterator[KeptDecoders]:
    """Loads in this process share their decoding processes. Tests of those use `own_decoders`."""
    kept = KeptDecoders()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "Decoder", kept)
        yield kept
    kept.end()


@pytest.fixture
def own_decoders(kept_decoders: KeptDecoders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each load starts and ends its own, as for a person."""
    kept_decoders.end()
    monkeypatch.setattr(pool, "Decoder", Decoder)


@pytest.fixture
def decode(tmp_path: Path) -> Decode:
    """Decode bytes in this process, under a name that a dump may have."""

    def run(data: bytes, name: str = "nccl_trace_rank_0") -> Decoded:
        path = tmp_path / name
        path.write_bytes(data)
        return worker.decode(path, name)

    return run


@pytest.fixture
def load_files(tmp_path: Path) -> LoadFiles:
    """Load files, given by name, the way a command does: walked, decoded in processes, assembled."""

    def run(files: Mapping[str, bytes], jobs: int = 1) -> Case:
        folder, spool = tmp_path / "job", tmp_path / "spool"
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        spool.mkdir(exist_ok=True)
        return load([folder], spool, jobs=jobs)

    return run


@pytest.fixture
def raf(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Raf:
    """Run a command: arguments in, status and both streams out."""
    return in_process(monkeypatch, capfd)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One for the tests of a module: while it is open, neither a second one nor another event loop can run."""
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
