"""Recognising calls of one kind: fast, because a training job repeats itself.

A dump holds thousands of calls of a few hundred kinds. Which kind a call is, is *guessed*: what followed the
previous kind before, follows it again. The guess is checked by comparing the call's values with the kind's
(exact; unpickled frames are shared objects, so most comparisons end at their identity). Only a call that no
guess fits is taken apart, validated and looked up by value. Validation therefore costs per kind, not per call.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

from rankandfile.evidence.raw import Frame, Kind, Repeats, Shape, pack

#: Strings in a dump are names and paths; longer ones are an attack or damage.
MAX_TEXT = 4096
MAX_FRAMES = 512
MAX_DIMENSIONS = 64
MAX_TENSORS = 1 << 16
MAX_SIZES = 1 << 18
#: Of one dump: different frames, frames in different stacks, numbers in different lists of sizes. A job repeats itself,
#: and has thousands; a file that has millions would take twenty times its size of memory.
MOST_FRAMES = 1 << 19
MOST_IN_STACKS = 1 << 22
MOST_IN_SIZES = 1 << 23
_FRAME_KEYS = {"name", "filename", "line"}
#: Our own recorder in Python stands innermost in torch's stacks of a job under `raf run`: it is nobody's place. A call
#: of DDP's backward pass has no other frame, as in a job without it.
OF_RECORDER = "/rankandfile/runtime/recorder/"
#: How many kinds are tried as the successor of another before looking the call up by value.
GUESSES = 6


class Malformed(Exception):
    """A value is not of the type or size that the format promises."""


class TooVaried(Exception):
    """The calls have more different stacks or sizes than the calls of a job."""


def text(value: Any) -> str:
    if type(value) is not str:
        raise Malformed(f"expected text, found {type(value).__name__}")
    if len(value) > MAX_TEXT:
        raise Malformed(f"a text of {len(value)} characters")
    if value.isascii() and value.isprintable():
        return value
    # A lone surrogate cannot be encoded, and a control character can steer the terminal that shows it.
    value = value.encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter.isprintable() else "?" for letter in value)


def integer(value: Any) -> int:
    if type(value) is not int:
        raise Malformed(f"expected a number, found {type(value).__name__}")
    if not -(1 << 62) < value < 1 << 62:
        raise Malformed("a number beyond 62 bits")
    return value


def boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise Malformed(f"expected true or false, found {type(value).__name__}")
    return value


def _list(value: Any, limit: int, what: str) -> list[Any]:
    if type(value) is not list:
        raise Malformed(f"expected a list of {what}, found {type(value).__name__}")
    if len(value) > limit:
        raise Malformed(f"a list of {len(value)} {what}")
    return value


def sizes(value: Any) -> tuple[tuple[int, ...], ...]:
    tensors = [_list(tensor, MAX_DIMENSIONS, "dimensions") for tensor in _list(value, MAX_TENSORS, "tensors")]
    if sum(map(len, tensors)) > MAX_SIZES:
        raise Malformed(f"sizes of {len(tensors)} tensors")
    return tuple(tuple(map(integer, tensor)) for tensor in tensors)


def texts(value: Any) -> tuple[str, ...]:
    return tuple(text(item) for item in _list(value, MAX_TENSORS, "dtypes"))


class Interner:
    """Gives each call the number of its kind, and each kind, shape, stack and frame a number of its own."""

    def __init__(self) -> None:
        self.repeats = Repeats([], [], [], [])
        self.groups: dict[tuple[str, str, str], int] = {}
        """Name, description and the process's own number, where a name says more than that: a group that is made again
        under its name has another."""
        self.threads: dict[str, int] = {}
        self.local_numbers: dict[str, int] = {}
        """The process's own number of a group (as text) -> position in `groups`."""
        self._kinds: dict[Kind, int] = {}
        self._shapes: dict[bytes, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._frames: dict[Frame, int] = {}
        self._frame_objects: dict[int, int] = {}
        self._of_recorder: set[int] = set()
        self._in_stacks = self._in_sizes = 0

    def numbers(
        self, rows: Iterable[tuple[Any, ...]], parse: Callable[[tuple[Any, ...]], Kind]
    ) -> array[int]:
        """The kind of each row. `parse` validates a row that was not recognised; it may raise `Malformed`.

        Rows must be tuples whose values were validated by `parse` when their kind was first met: comparing an
        unvalidated row against a validated one is safe, whatever nests in it, because the comparison never
        goes deeper than the validated side.
        """
        known: list[tuple[Any, ...]] = []
        successors: list[list[int]] = []
        guesses: list[int] = []
        out = array("I")
        append = out.append
        for row in rows:
            for kind in guesses:
                if known[kind] == row:
                    break
            else:
                kind = self._intern(self._kinds, self.repeats.kinds, parse(row))
                if kind == len(known):
                    known.append(row)
                    successors.append([])
                if len(guesses) >= GUESSES:
                    guesses.pop()
                guesses.insert(0, kind)
            append(kind)
            guesses = successors[kind]
        return out

    @staticmethod
    def _intern(numbers: dict[Any, int], values: list[Any], value: Any) -> int:
        number = numbers.setdefault(value, len(values))
        if number == len(values):
            values.append(value)
        return number

    def shape(self, in_sizes: Any, in_dtypes: Any, out_sizes: Any, out_dtypes: Any) -> int:
        value = Shape(sizes(in_sizes), texts(in_dtypes), sizes(out_sizes), texts(out_dtypes))
        packed = pack(value)
        if packed not in self._shapes:
            # A tensor without dimensions and a word for its type take memory as well.
            self._in_sizes += sum(1 + len(tensor) for tensor in (*value.in_sizes, *value.out_sizes))
            self._in_sizes += len(value.in_dtypes) + len(value.out_dtypes)
            if self._in_sizes > MOST_IN_SIZES:
                raise TooVaried
        return self._intern(self._shapes, self.repeats.shapes, packed)

    def stack(self, frames: Any) -> int | None:
        if frames is None:
            return None
        every = [self._frame(frame) for frame in _list(frames, MAX_FRAMES, "frames")]
        numbers = tuple(number for number in every if number not in self._of_recorder)
        if numbers not in self._stacks:
            self._in_stacks += len(numbers)
            if self._in_stacks > MOST_IN_STACKS or len(self._frames) > MOST_FRAMES:
                raise TooVaried
        return self._intern(self._stacks, self.repeats.stacks, numbers)

    def _frame(self, frame: Any) -> int:
        # Frames are shared objects after unpickling, kept alive by their entries: identity stands for value.
        number = self._frame_objects.get(id(frame))
        if number is None:
            if type(frame) is not dict:
                raise Malformed(f"expected a frame, found {type(frame).__name__}")
            for unknown in frame.keys() - _FRAME_KEYS:
                # Calls are compared with each other, frames and all: nothing may nest in them unchecked.
                del frame[unknown]
            value = Frame(text(frame.get("name")), text(frame.get("filename")), integer(frame.get("line")))
            number = self._intern(self._frames, self.repeats.frames, value)
            if OF_RECORDER in value.file:
                self._of_recorder.add(number)
            self._frame_objects[id(frame)] = number
        return number

    def group(self, name: str, desc: str, local: str) -> int:
        return self.groups.setdefault((name, desc, local), len(self.groups))

    def thread(self, ident: str, name: str) -> int:
        label = f"{name} {ident}".strip()
        return self.threads.setdefault(label, len(self.threads))
