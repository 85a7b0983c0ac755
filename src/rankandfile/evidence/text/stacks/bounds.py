"""How much of a stranger's stacks is kept. Far above real ones, far below what hurts."""

from __future__ import annotations

#: Bytes of a function's or a file's name, of an error, of a line of source.
TEXT = 1024
#: Frames of one stack: these many innermost ones and these many outermost ones of a deeper one.
INNER, OUTER = 384, 128
#: Stacks of one file. 16k ranks with 30 threads each, aggregated in one file, have half a million.
THREADS = 1_000_000
#: Distinct frames, and frames of distinct stacks, of one file.
FRAMES = 500_000
STACK_FRAMES = 4_000_000
#: Bytes of variables kept of one thread, and of one value.
LOCALS, VALUE = 4096, 160
#: Arguments kept of the functions of torch.distributed in one stack.
ASKED = 16
#: Writers that may take turns in one file.
STREAMS = 40_000
#: Bytes of a file of stacks that are read, and of one in JSON, which is decoded as a whole.
TEXT_FILE = 1 << 30
JSON_FILE = 256 << 20
#: Rows of stacks that a log yields, and lines looked at around each of them.
LOG_THREADS = 20_000
LOG_LINES = 2_000
#: Lines of other writers, one after the other, after which an unfinished stack is given up.
LOG_IDLE = 100


def short(text: str, limit: int = TEXT) -> str:
    """The text without what cannot be stored or printed, and not longer than `limit`."""
    if len(text) > limit:
        text = text[: limit - 3] + "..."
    if text.isascii() and text.isprintable():
        return text
    text = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(char if char.isprintable() else " " for char in text)


def small(number: object, limit: int = 1 << 62) -> int | None:
    """A whole number that a table can hold; None for anything else."""
    if type(number) is not int or not -limit < number < limit:
        return None
    return number


def decimal(digits: str | None, limit: int = 1 << 62) -> int | None:
    return small(int(digits), limit) if digits and len(digits) < 20 else None


def hexadecimal(digits: str | None) -> int | None:
    """A thread number such as 0x7fc6877fe6c0."""
    return small(int(digits, 16)) if digits and len(digits) <= 18 else None
