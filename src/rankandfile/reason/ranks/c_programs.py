"""Where a program without Python stands: which of its C, C++ or Fortran frames are its own, and which a library's.

A library that communicates, locks or writes does not call back into the program: what lies further in is the library's,
whatever its functions are called. Of the rest, a source file with a line that is not the system's is the program's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from .late_pattern import LatePattern


class Place(Protocol):
    """As much of a frame as tells whose it is."""

    @property
    def function(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...


#: What a program calls, and what never calls the program.
_ENTRY = LatePattern(
    r"(?:P?MPIX?|p?mpi)_\w+$|p?(?:nccl|rccl|hccl)[A-Z]\w*$|p?shmem_\w+$|gasnet\w*$|upc\w*_barrier$"
    r"|(?:H5|nc|ncmpi|nfmpi|adios2?|PIO)_?[A-Za-z]\w*$|(?:cuda|hip|cu|hip)[A-Z]\w+$|gloo::\w+"
    r"|(?:__)?pthread_(?:mutex|cond|join|rwlock|barrier|spin|timedjoin)\w*$|(?:__)?(?:GI_)*sem_(?:timed)?wait\w*$"
    r"|std::(?:\w+::)*(?:\w*mutex|condition_variable\w*|thread|future\w*|counting_semaphore)(?:<.*>)?::\w+"
    r"|(?:__|__GI_|__GI___|__libc_)*(?:p?read|p?write)(?:64|v)?$|(?:__|__GI_)*(?:open|openat|fsync|fdatasync|close|flock)(?:64)?$"
    r"|_?IO_\w+$|f(?:open|close|flush|write|read|puts|printf)(?:64)?$"
    r"|(?:__|__GI_)*(?:clock_)?(?:nano|u)?sleep$|(?:__|__GI___?)*(?:poll|ppoll|select|epoll_wait|recv\w*|send\w*|accept4?|connect)$"
    r"|_gfortran_(?:st_\w+|transfer_\w+)$"
)
_VERSION = LatePattern(r"@+[A-Z]+(?:_[\d.]+)*$")
#: Where sources of the system and of its compilers were built.
_SYSTEM = LatePattern(
    r"^/usr/|^\.\.?/(?:\.\./)*(?:sysdeps|nptl|csu|libio|misc|sunrpc)/|(?:^|/)(?:sysdeps|libgcc|libgomp|libstdc\+\+-v3|nptl)/"
    r"|^/(?:build|rpmbuild|tmp)/|/c\+\+/\d|/bits/"
)
_SOURCE = LatePattern(r"\.(?:c|cc|cpp|cxx|c\+\+|cu|hip|h|hh|hpp|hxx|rs|f|for|ftn|f\d\d)$", re.IGNORECASE)
_START = LatePattern(
    r"_start$|(?:__)?libc_start\w*$|start_thread$|(?:__)?clone\d?$|generic_start_main\w*$|\?*$|thread_start$"
)
_INTERPRETER = LatePattern(r"_?Py[A-Z_]\w*Eval\w*|Py_RunMain|Py_BytesMain|pymain_\w+|PyObject_Call\w*")


def own_frames(places: Sequence[Place]) -> range | None:
    """Of a stack without Python (innermost frame first): the frames of the program itself.

    None if it is an interpreter's, or if nothing tells them from those of libraries.
    """
    names = [without_version(place.function) for place in places]
    if any(_INTERPRETER.match(name) for name in names):
        return None
    end = len(places)
    while end and _START.match(names[end - 1]):
        end -= 1
    inside = next((index + 1 for index in range(end - 1, -1, -1) if _ENTRY.match(names[index])), 0)
    begin = next((index for index in range(inside, end) if _is_source(places[index])), inside)
    return range(begin, end) if begin < end and (inside or _is_source(places[begin])) else None


def without_version(function: str) -> str:
    """`pthread_mutex_lock@@GLIBC_2.2.5` is `pthread_mutex_lock`."""
    return _VERSION.sub("", function) if "@" in function else function


def _is_source(place: Place) -> bool:
    return bool(place.line) and _SOURCE.search(place.file) is not None and not _SYSTEM.search(place.file)
