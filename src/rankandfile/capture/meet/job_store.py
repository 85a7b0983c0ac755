"""A meeting place in the job's own TCPStore: nothing to set up, and no place for more than a few hundred nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from rankandfile.model.errors import in_a_line


@contextmanager
def _or_os_error() -> Iterator[None]:
    """torch's errors of network and time are RuntimeErrors."""
    try:
        yield
    except (RuntimeError, ImportError, ValueError) as error:
        raise OSError(in_a_line(error)) from error


class JobStore:
    """Goes when its host goes: a launcher's agent, or rank 0."""

    #: The store takes less than 8 MiB at once.
    PART = 4 << 20
    ANSWER_S = 10.0

    @_or_os_error()
    def __init__(self, host: str, port: int) -> None:
        """Raises `OSError` where there is no such store, or no torch to speak to it."""
        import torch.distributed as dist

        limit = timedelta(seconds=self.ANSWER_S)
        store = dist.TCPStore(host, port, is_master=False, timeout=limit, wait_for_workers=False)
        self._store = dist.PrefixStore("raf", store)

    @_or_os_error()
    def enrol(self, member: str) -> None:
        self._store.set(f"member-{self._store.add('members', 1)}", member.encode())

    @_or_os_error()
    def members(self) -> list[str]:
        names = [f"member-{number}" for number in range(1, self._store.add("members", 0) + 1)]
        # One may be enrolling at this moment.
        return [data.decode() for name in names if (data := self._read(name)) is not None]

    @_or_os_error()
    def put(self, name: str, data: bytes) -> None:
        parts = [data[at : at + self.PART] for at in range(0, len(data), self.PART)] or [b""]
        for number, part in enumerate(parts[1:], 1):
            self._store.set(f"{name}#{number}", part)
        self._store.set(name, b"%d\n" % len(parts) + parts[0])

    @_or_os_error()
    def get(self, name: str) -> bytes | None:
        first = self._read(name)
        if first is None:
            return None
        count, _, data = first.partition(b"\n")
        parts = [self._read(f"{name}#{number}") or b"" for number in range(1, int(count))]
        return b"".join([data, *parts])

    def get_all(self, names: Sequence[str]) -> list[bytes | None]:
        return [self.get(name) for name in names]

    def _read(self, key: str) -> bytes | None:
        return bytes(self._store.get(key)) if self._store.check([key]) else None

    @_or_os_error()
    def remove(self, member: str) -> None:
        for word in ("word", "evidence", "watch"):
            self._store.delete_key(f"{member}/{word}")
