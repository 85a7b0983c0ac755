"""The hooks of `pytest --raf`: which test runs, and how the hang of one is reported."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from rankandfile.capture.case import Wishes
from rankandfile.capture.launch.environment import cannot_inject, folder_for_rings, job_environment
from rankandfile.capture.testing.watch import Hang, Watch
from rankandfile.capture.watch.processes import status
from rankandfile.capture.watch.rings import rank_of
from rankandfile.wire.places import made

#: How long a rank that has told its hang stays, so that its peers can tell theirs before the launcher ends them.
TOGETHER_S = 1.5
#: How many ranks there are, under the names of launchers.
_WORLD = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def begin(config: pytest.Config) -> Watched | None:
    """Set up what the tests' processes are started with; None where that cannot be, which is said."""
    why = cannot_inject(os.environ) or ("" if sys.platform == "linux" else "it needs Linux's /proc")
    try:
        is_rank = _is_rank()
        rings = None if why else _shared_folder() if is_rank else folder_for_rings(os.environ)
    except OSError as error:
        rings, why = None, f"no place for it: {error}"
    if rings is None:
        config.issue_config_time_warning(pytest.PytestWarning(f"--raf does nothing: {why}"), 2)
        return None
    root = os.getppid() if is_rank else os.getpid()
    # torch's watchdog must write nothing into the folder of the tests.
    os.environ.update(job_environment(os.environ, rings, rings, root))
    return Watched(config, rings, root)


def _is_rank() -> bool:
    """`torchrun -m pytest`, `mpirun pytest`: this pytest is itself one of several ranks."""
    size = next((os.environ[name] for name in _WORLD if os.environ.get(name)), "")
    return rank_of(os.environ) is not None and size.isdigit() and int(size) > 1


def _shared_folder() -> Path:
    """One for all ranks of this launcher."""
    parent = os.getppid()
    started = found.started if (found := status(parent)) else 0
    folder = made(os.environ) / f"run-{parent}-{started}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


class Watched:
    """The tests of this process, each watched while it runs."""

    def __init__(self, config: pytest.Config, rings: Path, root: int) -> None:
        self._config, self._rings, self._root = config, rings, root
        self._watch: Watch | None = None
        self._session: pytest.Session | None = None
        self._item: pytest.Item | None = None
        self._began = 0.0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if self._watch is None:
            out = Path(self._config.getoption("--raf-out"))
            wishes = Wishes(out, show=lambda _card: None)
            seconds = self._config.getoption("--raf-stall")
            self._watch = Watch(self._rings, self._root, seconds, wishes, _say, self._stuck)
        self._item, self._began = item, time.time()
        self._watch.begin(re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-100:])
        try:
            return (yield)
        finally:
            self._watch.rest()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if self._watch is not None and (hang := self._watch.end()) is not None:
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                said = getattr(crash, "message", "") or str(report.longrepr)
                report.sections.append(("what the test said once its ranks were ended", said))
            report.outcome, report.longrepr = "failed", _words(hang)
        return report

    def pytest_unconfigure(self) -> None:
        if self._root == os.getpid():
            shutil.rmtree(self._rings, ignore_errors=True)

    def _stuck(self, hang: Hang) -> None:
        """From the watch's thread: this process will not come back to its test, and so its session ends here."""
        item, session = self._item, self._session
        if item is None or session is None:
            return
        sections = []
        capture = self._config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
            written = zip(("out", "err"), capture.read_global_capture(), strict=True)
            sections = [(f"Captured std{name} call", text) for name, text in written if text]
        report = pytest.TestReport(
            item.nodeid,
            item.location,
            dict.fromkeys(item.keywords, 1),
            "failed",
            f"{_words(hang)}\nThis pytest is a rank that cannot go on: what follows was not run.",
            "call",
            sections,
            time.time() - self._began,
        )
        item.ihook.pytest_runtest_logreport(report=report)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._config.hook.pytest_sessionfinish(session=session, exitstatus=session.exitstatus)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        time.sleep(TOGETHER_S)
        os._exit(pytest.ExitCode.TESTS_FAILED)


def _words(hang: Hang) -> str:
    return f"{hang.card.rstrip()}\n\nThe ranks hung and were ended. case: {hang.case}"


def _say(message: str) -> None:
    sys.__stderr__.write(f"raf: {message}\n") if sys.__stderr__ is not None else None
