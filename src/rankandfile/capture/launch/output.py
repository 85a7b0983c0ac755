"""What a job writes: two streams that all of it shares, and one of its own for each rank that asks for it."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from pathlib import Path

from rankandfile.capture.launch.streams import Stream
from rankandfile.wire import streams
from rankandfile.wire.streams import ERR, OUT, Wish

#: Who asks has something to say at once.
ASKS_S = 1.0


class Output:
    """Keeps logs in `folder`, those of ranks by attempt. Ranks ask in `meeting`, which is theirs as well as ours."""

    def __init__(self, folder: Path, meeting: Path) -> None:
        self._folder = folder
        self._streams = {OUT: Stream(OUT), ERR: Stream(ERR)}
        self._shared = [folder / _NAMES[number] for number in self._streams]
        self.ends = [
            stream.open(log) for stream, log in zip(self._streams.values(), self._shared, strict=True)
        ]
        """What the job gets as its output and its errors."""
        self._asked: socket.socket | None = None
        with contextlib.suppress(OSError):
            self._asked = _listen(meeting)

    @property
    def variables(self) -> dict[str, str]:
        """What ranks must be told: which streams are the shared ones; nothing to ask for, where nobody answers."""
        return {streams.VARIABLE: " ".join(map(streams.identity, self.ends)) if self._asked else ""}

    def start(self) -> None:
        """To be called once, when the job has its ends."""
        for end in self.ends:
            os.close(end)
        for stream in self._streams.values():
            stream.start()
        if self._asked is not None:
            threading.Thread(target=self._answer, args=(self._asked,), name="raf-output", daemon=True).start()

    def resize(self) -> None:
        for stream in self._streams.values():
            stream.resize()

    def finish(self, seconds: float) -> None:
        """The job has ended: pass on what there still is."""
        for stream in self._streams.values():
            stream.finish(seconds)

    def logs(self, attempt: int) -> list[Path]:
        """Of the whole job, and of the ranks of one attempt."""
        return [*self._shared, *sorted(self._of(attempt).glob("*.log"))]

    def _of(self, attempt: int) -> Path:
        return self._folder / f"attempt_{attempt}"

    def _answer(self, asked: socket.socket) -> None:
        while True:
            try:
                rank, _ = asked.accept()
            except OSError:
                time.sleep(ASKS_S)  # no descriptor is left: who waits in vain goes on with what it has
                continue
            with contextlib.suppress(OSError), rank:
                rank.settimeout(ASKS_S)
                if (wish := streams.unpack(rank.recv(streams.LONGEST))) is not None:
                    self._hand_out(rank, wish)

    def _hand_out(self, rank: socket.socket, wish: Wish) -> None:
        """Raises OSError where that fails; the rank goes on with what it has."""
        folder = self._of(wish.attempt)
        folder.mkdir(exist_ok=True)
        ends: list[int] = []
        try:
            ends += (
                self._streams[number].open(folder / f"rank_{wish.rank}.{_NAMES[number]}")
                for number in wish.streams
            )
            socket.send_fds(rank, [b"+"], ends)
        finally:
            for end in ends:
                os.close(end)


_NAMES = {OUT: "stdout.log", ERR: "stderr.log"}


def _listen(folder: Path) -> socket.socket:
    asked = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            asked.bind(streams.address(place))
        finally:
            os.close(place)
        (folder / streams.SOCKET).chmod(0o600)
        asked.listen(1024)
    except BaseException:
        asked.close()
        raise
    return asked
