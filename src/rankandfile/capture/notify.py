"""Telling somebody of a hang: a web hook, as Slack, Mattermost and others take it, or a command."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rankandfile.model.diagnosis import SURE

#: How long either may take.
ANSWER_S = 15.0
_LONGEST = 1_500


@dataclass
class Notices:
    """To one receiver, each in a thread: nobody waits for a network but the end of `raf run`."""

    to: str
    """`https://…`, or a command for the shell; it gets the same JSON on its standard input."""
    say: Callable[[str], None]
    _sent: list[threading.Thread] = field(default_factory=list)

    def hang(self, case: Path) -> None:
        self._send(_words(case), case)

    def diverged(self, words: str, case: Path) -> None:
        """Ranks of a job that goes on have parted."""
        self._send(words, case)

    def taken_back(self, case: Path) -> None:
        self._send("taken back: the job moves again, it was no hang", case)

    def finish(self) -> None:
        """Wait for those that are on their way."""
        for thread in self._sent:
            thread.join(ANSWER_S)

    def _send(self, words: str, case: Path) -> None:
        where = f"{os.uname().nodename}:{case.resolve()}"
        thread = threading.Thread(target=self._deliver, args=(f"{words}\ncase: {where}", case), daemon=True)
        thread.start()
        self._sent.append(thread)

    def _deliver(self, text: str, case: Path) -> None:
        try:
            if self.to.startswith(("https://", "http://")):
                _post(self.to, text)
            else:
                _run(self.to, text, case)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.say(f"nobody was told of it: {_why(error)}")


def _why(error: Exception) -> str:
    """Without the address: whoever has it can write there."""
    if isinstance(error, subprocess.CalledProcessError):
        return f"the command ended with {error.returncode}"
    if isinstance(error, urllib.error.HTTPError):
        return f"the web hook answered {error.code} {error.reason}"
    why = error.reason if isinstance(error, urllib.error.URLError) else error
    return type(error).__name__ if isinstance(why, ValueError | subprocess.TimeoutExpired) else str(why)


def _words(case: Path) -> str:
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        verdicts = json.loads((case / "diagnosis.json").read_bytes())["verdicts"]
        told = [
            f"{one['cause'].replace('_', ' ')} ({SURE[one['confidence']]}): {one['sentence']}"
            for one in verdicts
        ]
        return f"a job hangs: {' '.join(told)}"[:_LONGEST]
    return "a job hangs"


def _post(url: str, text: str) -> None:
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, name)
    body = json.dumps({"text": text}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
        answer.read(1)


def _run(command: str, text: str, case: Path) -> None:
    subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps({"text": text}).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "RAF_CASE": str(case.resolve())},
        timeout=ANSWER_S,
        check=True,
    )
