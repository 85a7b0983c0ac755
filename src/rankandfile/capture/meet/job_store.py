"""A muster in the job's own TCPStore: nothing to set up, and no place for more than a few hundred nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


class JobStore:
    """Goes when its host goes: a launcher's agent, or rank 0."""

    #: The store takes less than 8 MiB at once.
    PART = 4 << 20
    ANSWER_S = 10.0

    def __init__(self, host: str, port: int) -> None:
        """Raises `OSError` where there is no such store, or no torch to speak to it."""
        self._store = self._asked(lambda: _connect(host, port, self.ANSWER_S))

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except (
            RuntimeError,
            ImportError,
            ValueError,
        ) as error:  # torch's errors of network and time are RuntimeErrors
            raise OSError(str(error).splitlines()[0][:200] if str(error) else type(error).__name__) from error

    def enrol(self, member: str) -> None:
        number = self._asked(lambda: self._store.add("members", 1))
        self._asked(lambda: self._store.set(f"member-{number}", member.encode()))

    def members(self) -> list[str]:
        count = self._asked(lambda: self._store.add("members", 0))
        names = [f"member-{number}" for number in range(1, count + 1)]
        # One may be enrolling at this moment.
        return [data.decode() for name in names if (data := self._read(name)) is not None]

    def put(self, name: str, data: bytes) -> None:
        parts = [data[at : at + self.PART] for at in range(0, len(data), self.PART)] or [b""]
        for number, part in enumerate(parts[1:], 1):
            self._asked(partial(self._store.set, f"{name}#{number}", part))
        self._asked(lambda: self._store.set(name, b"%d\n" % len(parts) + parts[0]))

    def get(self, name: str) -> bytes | None:
        first = self._read(name)
        if first is None:
            return None
        count, _, data = first.partition(b"\n")
        parts = [self._read(f"{name}#{number}") or b"" for number in range(1, int(count))]
        return b"".join([data, *parts])

    def _read(self, key: str) -> bytes | None:
        found: bytes | None = self._asked(
            lambda: bytes(self._store.get(key)) if self._store.check([key]) else None
        )
        return found

    def remove(self, member: str) -> None:
        for word in ("word", "evidence"):
            self._asked(partial(self._store.delete_key, f"{member}/{word}"))


def _connect(host: str, port: int, seconds: float) -> Any:
    from datetime import timedelta

    import torch.distributed as dist

    store = dist.TCPStore(
        host, port, is_master=False, timeout=timedelta(seconds=seconds), wait_for_workers=False
    )
    return dist.PrefixStore("raf", store)
