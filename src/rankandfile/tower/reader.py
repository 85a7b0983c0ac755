"""Reads the cases that were sent, one at a time: with the one diagnosis that there is, in a process of its own.

What is in an archive is a stranger's. The tower itself never opens it: it goes to `raf diagnose`, whose decoders are
processes with bounds, and what comes back is the page and the document that anybody gets.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import time
from pathlib import Path

from rankandfile.capture.diagnose import Answer, diagnose
from rankandfile.tower.errors import Refused
from rankandfile.tower.pulse import Pulse
from rankandfile.tower.store import reads, writes
from rankandfile.tower.store.store import Store

PAGE, DOCUMENT = "page", "diagnosis"
#: Of what was sent: far below what the command takes by itself, which trusts its user's disk and patience.
_OPTIONS = ("--limit-seconds", "120", "--limit-files", "50000")
_LARGEST_MADE = 32 << 20
_LOOK_S = 5.0


class CaseReader:
    def __init__(self, store: Store, pulse: Pulse) -> None:
        self._store, self._pulse = store, pulse
        self._came = asyncio.Event()

    def wake(self) -> None:
        self._came.set()

    async def read_all(self) -> None:
        """For as long as the tower runs."""
        while True:
            try:
                busy = await self._read_one()
            except Refused:
                # The store is full or away: later.
                busy = False
            if not busy:
                with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
                    await asyncio.wait_for(self._came.wait(), _LOOK_S)
                self._came.clear()

    async def _read_one(self) -> bool:
        waiting = await self._store.read(lambda session: writes.case_to_claim(session, time.time()))
        if waiting is None:
            return False
        name = await self._store.write(lambda session: writes.claim_case(session, time.time()))
        if name is None:
            return False
        case = await self._store.read(lambda session: reads.case(session, name))
        archive = await self._store.read(lambda session: reads.file(session, name, "archive"))
        if case is None or archive is None:
            return True
        state, told, made = await asyncio.to_thread(_read, case.name, archive)
        await self._store.write(lambda session: writes.case_was_read(session, name, state, told, made))
        self._pulse.tell(case.job, "case")
        return True


def _read(name: str, archive: bytes) -> tuple[str, str, dict[str, bytes]]:
    """Its state, the verdict in a sentence or why there is none, and what was made of it."""
    with tempfile.TemporaryDirectory(prefix="raf-tower-") as folder:
        case = Path(folder)
        (case / "evidence").mkdir()
        try:
            (case / "evidence" / name).write_bytes(archive)
            answer = diagnose(case, None, True, 100, _OPTIONS)
            made = {
                word: (case / file).read_bytes()
                for word, file in ((PAGE, "report.html"), (DOCUMENT, "diagnosis.json"))
                if (case / file).is_file() and (case / file).stat().st_size <= _LARGEST_MADE
            }
        except OSError as error:
            return "unreadable", f"the tower could not read it: {error.strerror or error}", {}
    if DOCUMENT not in made or answer.status == 2:
        return "unreadable", _why(answer), {}
    return "read", _sentence(made[DOCUMENT]), made


def _why(answer: Answer) -> str:
    lines = answer.said.splitlines()
    return lines[-1].removeprefix("raf: ") if lines else "nothing came of it"


def _sentence(document: bytes) -> str:
    try:
        verdicts = json.loads(document)["verdicts"]
        return " ".join(str(one["sentence"]) for one in verdicts[:1]) or "no verdict"
    except (ValueError, LookupError, TypeError):
        return "no verdict"
