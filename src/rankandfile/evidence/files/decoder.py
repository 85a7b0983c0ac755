"""One decoding process, seen from the process that uses it: started, asked about files, ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rankandfile.evidence.files.decoded import Decoded, unpack_decoded
from rankandfile.evidence.files.worker import READY, Request, read_message, write_message
from rankandfile.evidence.raw import pack
from rankandfile.own_python import own_python

#: What a file may become, in bytes: columns and tables are smaller than the dump they come from, and only a
#: file made for the purpose grows without end.
ANSWER_PER_BYTE = 4
ANSWER = 64 << 20

#: Share of a processor that who works has, however busy the machine is.
_WORKS = 0.02

LONG = "refused: it took longer than any real file"


class BrokenDecoder(Exception):
    """The process ended, or was ended; its text says why, for a note on the file."""

    def __init__(self, why: str, seconds: float = 0.0) -> None:
        super().__init__(why)
        self.seconds = seconds
        """Processor time that the file cost."""


class Decoder:
    """Starts with the first file and is used up by the first `BrokenDecoder`."""

    def __init__(self, memory: int) -> None:
        try:
            self._process = _spawn(memory)
        except OSError as error:
            raise BrokenDecoder(f"no decoding process starts: {error.strerror or error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._answers = select.poll()
        self._answers.register(self._stdout, select.POLLIN)
        if read_message(self._stdout) != READY:
            self.end()
            raise BrokenDecoder(f"no decoding process starts: {_last_words(memory)}")

    def ask(self, requests: Sequence[Request], size: int, seconds: float, most: float) -> list[Decoded]:
        """What each of the files holds. Raises `BrokenDecoder` if the process died over one, or had to be ended:
        because it did nothing for so many seconds, or took the most that is left."""
        allowed = sum(request.seconds for request in requests)
        try:
            write_message(self._stdin, pack(requests))
            # The answer is written at once and whole: a process that has begun it has done with the files.
            if not self._answers_within(seconds, most):
                raise BrokenDecoder(LONG, allowed)
            answer = read_message(self._stdout, ANSWER + ANSWER_PER_BYTE * size)
        except OverflowError as error:
            raise BrokenDecoder(f"refused: it expands without end ({error})") from error
        except OSError:
            answer = None
        if answer is None:
            self.kill()
            if self._process.wait() == -signal.SIGPROF:
                raise BrokenDecoder(LONG, allowed)
            raise BrokenDecoder("refused: it brought its decoding process down")
        found = unpack_decoded(answer)
        for decoded in found:
            decoded.bytes = len(answer) // len(found)
        return found

    def _answers_within(self, seconds: float, most: float) -> bool:
        """A disk or a pipe that does not answer lets it do nothing; a machine that is busy lets it work slowly, and
        how much it may do is its own limit."""
        end = time.monotonic() + most
        used = self._processor_time()
        while not self._answers.poll(1000 * max(0.0, min(seconds, end - time.monotonic()))):
            before, used = used, self._processor_time()
            if used - before < _WORKS * seconds or time.monotonic() >= end:
                return False
        return True

    def _processor_time(self) -> float:
        """0 where nobody tells."""
        try:
            words = Path(f"/proc/{self._process.pid}/stat").read_bytes().rpartition(b")")[2].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return 0.0

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        self.kill()
        for stream in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                stream.close()
        self._process.wait()


def _command(memory: int) -> list[str]:
    return [*own_python("from rankandfile.evidence.files.worker import main; main()"), str(memory)]


@cache
def _last_words(memory: int) -> str:
    """Why it does not start: it is started once more, and listened to."""
    try:
        done = subprocess.run(
            _command(memory), stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return type(error).__name__
    said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return said[:300] or f"it ends with {done.returncode}, and says nothing"


def _spawn(memory: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        _command(memory),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
