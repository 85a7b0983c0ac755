"""Reading stacks in tests: text in, threads with their frames out."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rankandfile.evidence.raw import unpack_repeats
from rankandfile.evidence.text import reading
from rankandfile.evidence.text.stacks.raw import RawProcess, RawStacks, RawThread


class Seen(NamedTuple):
    thread: RawThread
    process: RawProcess
    frames: list[tuple[str, str, int]]
    """Function, file and line, innermost first."""

    @property
    def functions(self) -> list[str]:
        return [function for function, _, _ in self.frames]


def seen(raw: RawStacks) -> list[Seen]:
    repeats = unpack_repeats(raw.repeats)
    return [
        Seen(
            thread,
            raw.processes[thread.process],
            []
            if thread.stack is None
            else [
                (repeats.frames[f].function, repeats.frames[f].file, repeats.frames[f].line)
                for f in repeats.stacks[thread.stack]
            ],
        )
        for thread in raw.threads
    ]


def read(folder: Path, text: str | bytes, name: str = "stacks.txt") -> RawStacks:
    path = folder / name.replace("/", "_")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return reading.read_stacks(path, name).stacks or RawStacks()


def read_log(folder: Path, text: str | bytes) -> RawStacks:
    path = folder / "job.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return reading.read_log(path).stacks or RawStacks()
