"""What is written every so often: tables, stacks, the verdict, and a pickle per rank that torch's fr_trace reads."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rankandfile.capture.debug import texts
from rankandfile.capture.debug.job import Settings, ranks, share
from rankandfile.capture.debug.verdict import Diagnosing
from rankandfile.capture.gather import fr_trace


class Dumper:
    def __init__(self, settings: Settings, verdicts: Diagnosing) -> None:
        self._settings, self._verdicts = settings, verdicts
        self._calls = -1
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="raf-dumps", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """One more dump, of how it ended."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            self.dump()
            if self._ended.is_set():
                return
            self._ended.wait(self._settings.dump_interval)

    def dump(self) -> None:
        """Write each kind of dump; one that fails is said, and does not hinder the others."""
        found = ranks(self._settings)
        calls = sum(one.seen.calls for one in found)
        moved, self._calls = calls != self._calls, calls
        folder, stamp = Path(self._settings.dump_dir), time.strftime("%Y%m%d_%H%M%S")
        kinds: dict[str, Callable[[], str]] = {
            "stacks": lambda: texts.where_they_stand(self._settings, found),
            "fr_trace": lambda: texts.calls(found),
            "wait_counters": lambda: texts.from_workers(self._settings, found, "wait_counter_values"),
            "tcpstore": lambda: texts.in_the_store(self._settings),
            "pickles": lambda: "",
            # A job that moves needs no diagnosis, which would take a core for seconds.
            "verdict": lambda: (
                f"the job moves: {calls} calls\n" if moved else f"{self._verdicts.now().text}\n"
            ),
        }
        for kind, text in kinds.items():
            if kind in self._settings.dumps:
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    if kind == "pickles":
                        fr_trace.pickles(texts.calls_of(found), folder / f"pickles_{stamp}")
                    else:
                        _write(folder / f"{kind}_{stamp}.txt", text())
                    _keep_newest(folder, kind, self._settings.keep_dumps)
                except Exception as error:
                    sys.stderr.write(f"raf: no dump of {kind}: {type(error).__name__}: {error}\n")
        if self._settings.shared:
            try:
                share(self._settings, found)
            except OSError as error:
                sys.stderr.write(f"raf: rings not shared: {error}\n")


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _keep_newest(folder: Path, kind: str, most: int) -> None:
    """A job runs for weeks; the first dump stays too, to compare with."""
    for old in sorted(folder.glob(f"{kind}_2*"))[1 : -most or None]:
        if old.is_dir():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.unlink(missing_ok=True)
