"""Writing a ring: a file in shared memory, mapped, so that what was written survives any end of the process."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import socket
import threading
import time
import zlib
from pathlib import Path

from rankandfile.wire import layout


class Ring:
    """One process's ring file. Thread-safe as far as its methods say."""

    def __init__(
        self, path: Path, capacity: int = layout.CAPACITY, table_size: int = layout.TABLE_SIZE
    ) -> None:
        self.path = path
        self.capacity = capacity
        self.table_at = layout.HEADER_SIZE + capacity * layout.RECORD_SIZE
        self._table_size = table_size
        self._table_used = 0
        self._lock = threading.Lock()
        size = self.table_at + table_size
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        fd = os.open(path, flags, 0o600)
        try:
            # Space is taken now, where the system can promise it: a full file system must not kill the job later.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, size)
            else:
                os.ftruncate(fd, size)
            self.map = mmap.mmap(fd, size)
        except BaseException:
            path.unlink()
            raise
        finally:
            os.close(fd)
        self._write_header(capacity, table_size)

    def _write_header(self, capacity: int, table_size: int) -> None:
        whole = layout.HEADER.pack(
            layout.MAGIC,
            layout.VERSION,
            layout.HEADER_SIZE,
            layout.RECORD_SIZE,
            capacity,
            self.table_at,
            table_size,
            0,
            0,
            _number("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"),
            _number("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE"),
            _number("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"),
            _number("TORCHELASTIC_RESTART_COUNT"),
            os.getpid(),
            os.getppid(),
            started(os.getpid()),
            time.time_ns(),
            time.monotonic_ns(),
            layout.OPEN,
            layout.PYTHON,
            time.time_ns(),
            socket.gethostname().encode("utf-8", "replace")[:64],
            os.environ.get("TORCHELASTIC_RUN_ID", "").encode("utf-8", "replace")[:64],
        )
        # The magic last: a file without it is not a ring yet.
        self.map[8 : len(whole)] = whole[8:]
        self.map[0:8] = whole[:8]

    def place(self, number: int) -> int:
        """Where record `number` goes."""
        return layout.HEADER_SIZE + (number - 1) % self.capacity * layout.RECORD_SIZE

    def put(self, number: int, body: bytes) -> int:
        """Write a record; returns its place. Each number belongs to one thread."""
        at = self.place(number)
        self.map[at + layout.BODY_SIZE : at + layout.RECORD_SIZE] = layout.NO_TAIL
        self.map[at : at + layout.BODY_SIZE + 4] = body + layout.U32.pack(zlib.crc32(body))
        self._store(layout.LAST_AT, layout.U64.pack(number))
        return at

    def stamp(self, at: int, number: int, where: int, value: int) -> None:
        """Write a time at the end of record `number`, unless the ring has come round and its place is another's."""
        if layout.U64.unpack_from(self.map, at)[0] == number:
            self._store(at + where, layout.U32.pack(value))

    def _store(self, at: int, value: bytes) -> None:
        # `struct.pack_into` would write zeros first, then byte by byte; a slice of 4 or 8 bytes is stored at once.
        self.map[at : at + len(value)] = value

    def add(self, kind: bytes, value: list[object]) -> bool:
        """Append an entry to the table; false if it is full."""
        payload = json.dumps(value, separators=(",", ":")).encode("utf-8", "replace")
        whole = layout.ENTRY.pack(len(payload), zlib.crc32(payload), kind) + payload
        with self._lock:
            if self._table_used + len(whole) > self._table_size:
                return False
            at = self.table_at + self._table_used
            self.map[at : at + len(whole)] = whole
            self._table_used += len(whole)
            self._store(layout.TABLE_USED_AT, layout.U64.pack(self._table_used))
        return True

    def set_rank(self, rank: int, world: int) -> None:
        self._store(layout.RANK_AT, layout.RANK_AND_WORLD.pack(rank, world))

    def beat(self) -> None:
        """A sign of life."""
        self._store(layout.BEAT_AT, layout.U64.pack(time.time_ns()))

    def last(self) -> int:
        """The number of the newest record."""
        return int(layout.U64.unpack_from(self.map, layout.LAST_AT)[0])

    def siblings(self) -> list[Path]:
        """The rings of this process's job on this host, its own among them: same attempt, same launcher."""
        return list(self.path.parent.glob(f"raf-rank*-{'-'.join(self.path.stem.split('-')[2:4])}-*.ring"))

    def set_writer(self, writer: int) -> None:
        self._store(layout.STATE_AT + 4, layout.U32.pack(writer))

    def close(self) -> None:
        """Mark the end of a process that ended by itself. The file stays: others of the job may hang."""
        with contextlib.suppress(ValueError):
            self._store(layout.STATE_AT, layout.U32.pack(layout.CLOSED))


def _number(*names: str) -> int:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return min(int(text), 2**31 - 1)
    return -1


def started(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
