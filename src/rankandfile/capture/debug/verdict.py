"""The diagnosis of the job as it stands: as `raf diagnose` gives it, of copies of the rings and of stacks."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from rankandfile.capture.debug.job import Settings, ranks
from rankandfile.capture.diagnose import diagnose
from rankandfile.capture.gather import files, stacks

#: A verdict this young is given again.
FRESH_S = 5.0
#: Between the two looks at the stacks: what is the same in both stands still.
APART_S = 1.0
WIDTH = 100


class Judged(NamedTuple):
    """A diagnosis of the job as it stood at a moment, in its three forms."""

    at: float
    """Wall clock."""
    text: str
    document: str
    """As of `raf diagnose --format json`; empty where there is none."""
    report: str


class Diagnosing:
    """One diagnosis at a time, however many ask."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._last: Judged | None = None

    def now(self) -> Judged:
        with self._lock:
            if self._last is None or time.time() - self._last.at > FRESH_S:
                self._last = judge(self._settings)
            return self._last


def judge(settings: Settings) -> Judged:
    with tempfile.TemporaryDirectory(prefix="raf-verdict-") as name:
        case = Path(name)
        evidence = case / "evidence"
        found = ranks(settings)
        seen = [one.seen for one in found]
        living = {f"rank_{one.seen.rank}": one.seen.pid for one in found if one.here and one.seen.lives}
        if not stacks.take(living, evidence / "stacks"):
            time.sleep(APART_S)
            stacks.take(living, evidence / "stacks", "_later")
        files.rings(seen, evidence / "rings")
        files.exits([one.seen for one in found if one.here], {}, evidence / "exits.json")
        source = Path(settings.source) if settings.source else None
        answer = diagnose(case, source, True, WIDTH)
        text = answer.card.strip() or answer.said or "no verdict"
        return Judged(time.time(), text, _text(case / "diagnosis.json"), _text(case / "report.html"))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
