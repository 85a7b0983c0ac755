"""A process that decodes files, one after the other, under a memory limit of its own.

Decoding runs outside the analysing process so that it uses every core, and so that a hostile file can at worst
end a worker: the pool reports the file and goes on. Speaks length-prefixed messages over its standard streams.
It imports no Polars: starting one takes milliseconds.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import IO

import msgspec

from rankandfile.evidence.files.blobs import shown
from rankandfile.evidence.files.decoded import Decoded
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.patience import SECONDS
from rankandfile.evidence.files.sniff import HEAD, recognise, signs
from rankandfile.evidence.raw import RawNote, pack
from rankandfile.evidence.text.logs.between_ranks.kept_lines import Wanted

_HEADER = struct.Struct("<Q")

#: A worker's first words. Without them it is not a file that brought it down, but its own installation.
READY = b"ready"

#: Memory that decoding one file may take: real dumps become objects of up to twenty times their size.
MEMORY_PER_FILE = 512 << 20
MEMORY_PER_BYTE = 32
#: Bytes of files after which garbage is collected.
SWEEP = 8 << 20

TOO_MUCH = "refused: it needs more memory than decoding may use"


class Request(msgspec.Struct, array_like=True):
    path: bytes
    """As the system has it: a name need not be text."""
    name: str
    """As the user knows the file: its ending may help to tell what it is."""
    dump_bytes: int = Limits().dump_bytes
    """Largest dump that is decoded."""
    seconds: float = SECONDS
    """Processor time after which the process ends over it."""
    lines: bool = True
    """A log's own lines shall be kept, to be compared with those of other ranks."""


_requests = msgspec.msgpack.Decoder(list[Request]).decode


def decode(path: Path, name: str, dump_bytes: int = Limits().dump_bytes) -> Decoded:
    """Whatever dumps one file holds, and notes on what could not be kept. Raises nothing."""
    found = _decode(path, name, dump_bytes)
    # Notes quote what the file says, and a stranger's text can steer a terminal or defy encoding.
    found.notes = [RawNote(shown(note.where), shown(note.what)) for note in found.notes]
    return found


def _decode(path: Path, name: str, dump_bytes: int) -> Decoded:
    try:
        with path.open("rb") as file:
            kind = recognise(file.read(HEAD), name)
        if kind.is_dump and (size := path.stat().st_size) > dump_bytes:
            what = f"larger than a dump can be ({size:,} bytes, limit {dump_bytes:,}): not decoded"
            return Decoded(kind.name, notes=[RawNote("", what)])
        found = kind.decode(path, name) if kind.decode is not None else Decoded()
        found.kind = found.kind or kind.name
        return found
    except MemoryError:
        return Decoded("unreadable", notes=[RawNote("", TOO_MUCH)])
    except OSError as error:
        return Decoded("unreadable", notes=[RawNote("", f"cannot be read: {error.strerror or error}")])


def limit_memory(limit: int) -> None:
    """Cap this process's address space, where the system can (not on macOS). What brings it down leaves no core file
    where the user works: an archive may hold thousands of such files."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, ValueError, OSError):
        pass


def go_first() -> None:
    """Where memory runs out, the system shall end this process, and neither the one that asked nor anybody's job."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def allow_for(size: int) -> None:
    """Let a file of this size ask for its share of memory beyond what the process has now, and for no more."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        wanted = pages * resource.getpagesize() + MEMORY_PER_FILE + MEMORY_PER_BYTE * size
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most < 0 else min(wanted, most), most))
    except (ImportError, ValueError, OSError):
        pass


def read_message(stream: IO[bytes], limit: int | None = None) -> bytes | None:
    """The next message; None at the end of the stream. Raises OverflowError for one beyond the limit."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (length,) = _HEADER.unpack(header)
    if limit is not None and length > limit:
        raise OverflowError(f"{length:,} bytes of columns")
    body = stream.read(length)
    return body if len(body) == length else None


def write_message(stream: IO[bytes], body: bytes) -> None:
    stream.write(_HEADER.pack(len(body)))
    stream.write(body)
    stream.flush()


def _size(path: bytes) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - a path is slow to make, and there may be a hundred thousand
    except (OSError, ValueError):
        return 0


def _answer(request: Request) -> bytes:
    began = time.process_time()
    try:
        path = Path(os.fsdecode(request.path))
        # The timer's signal ends the process wherever it is: deep in C code, too, which hears of nothing else.
        signal.setitimer(signal.ITIMER_PROF, request.seconds)
        Wanted.lines = request.lines
        found = decode(path, request.name, request.dump_bytes)
        found.seconds = time.process_time() - began
        return pack(found)
    except MemoryError:
        return pack(Decoded("unreadable", [], [RawNote("", TOO_MUCH)]))
    except Exception as error:
        # A fault of ours, and none of the file's: it is said so, with its place, and the other files count.
        failed = Decoded("unreadable", [], [RawNote("", shown(_own_fault(error)))])
        failed.seconds = time.process_time() - began
        return pack(failed)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _own_fault(error: Exception) -> str:
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" ({Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno})" if at is not None else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return f"refused: raf itself failed on it: {what}{place}"


def main() -> None:
    limit_memory(int(sys.argv[1]))
    go_first()
    signs()
    # A dump is hundreds of thousands of objects, none of them garbage until it is dropped whole.
    gc.disable()
    gc.freeze()
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    write_message(stdout, READY)
    unswept = 0
    while (message := read_message(stdin)) is not None:
        requests = _requests(message)
        size = sum(_size(request.path) for request in requests)
        allow_for(size)
        write_message(stdout, pack([msgspec.Raw(_answer(request)) for request in requests]))
        # Only a hostile file leaves garbage that refers to itself; later files shall not pay for it.
        unswept += size
        if unswept > SWEEP:
            gc.collect()
            unswept = 0


if __name__ == "__main__":
    main()
