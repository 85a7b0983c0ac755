"""`raf run --watch-lint`: where what is told of a running job names a line that the linter flags, that is told with it.

The linter reads the source in a process of its own while the job starts. A place counts where a finding has it anywhere
in its story: the decision, the calls on the way, the collective that some ranks do not come to.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from rankandfile.own_python import own_python

Say = Callable[[str], None]
_PLACE = re.compile(r"([^\s'\"`(),;:]+\.py):(\d+)")
_RAF = "from rankandfile.cli.main import main; sys.exit(main())"


class FlaggedSites:
    """What is said through `say` is said, and then, once for each finding, what the linter says of the place."""

    def __init__(self, source: Path, say: Say) -> None:
        self._say = say
        self._found: dict[int, list[tuple[str, str]]] | None = None
        self._told: set[str] = set()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by finish()
        words = ["lint", str(source.resolve()), "--format", "json"]
        self._linter = subprocess.Popen(
            [*own_python(_RAF), *words],
            stdin=subprocess.DEVNULL, stdout=self._file, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def say(self, message: str) -> None:
        self._say(message)
        for file, line in _PLACE.findall(message):
            for known, words in self._sites().get(int(line), ()):
                if _same(file, known) and words not in self._told:
                    self._told.add(words)
                    self._say(words)

    def finish(self) -> None:
        if self._linter.poll() is None:
            self._linter.kill()
        self._linter.wait()
        self._file.close()

    def _sites(self) -> dict[int, list[tuple[str, str]]]:
        """Line -> file and words; nothing before the linter has come to its end."""
        if self._found is None and self._linter.poll() is not None:
            self._found = {}
            self._file.seek(0)
            try:
                findings = json.loads(self._file.read())["findings"]
            except (ValueError, KeyError):
                findings = []
            for each in findings:
                words = (
                    f"raf lint flags {each['file']}:{each['line']}, which is on the way to this: "
                    f"{each['severity']}[{each['rule']}] {each['message']}"
                )
                for told in (each, *each["story"]):
                    self._found.setdefault(told["line"], []).append((told["file"], words))
        return self._found or {}


def _same(file: str, known: str) -> bool:
    """Whether a path as the job has it may be this file: the shorter one is the end of the longer one."""
    one, other = Path(file).parts, Path(known).parts
    few = min(len(one), len(other))
    return one[-few:] == other[-few:]


def source_of(command: list[str]) -> Path:
    """The folder of the program that a launch command names; here, where it names none that is there."""
    programs = (Path(word) for word in command[1:] if word.endswith(".py"))
    return next((program.parent for program in programs if program.is_file()), Path())
