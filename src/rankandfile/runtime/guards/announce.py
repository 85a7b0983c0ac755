"""One line to the log before a call, so that the logs of two ranks can be compared by eye and by `diff`."""

from __future__ import annotations

import sys
import threading
from typing import Any

from rankandfile.runtime import watchers
from rankandfile.runtime.guards import place, values
from rankandfile.runtime.guards.membership import members
from rankandfile.runtime.switch import guards_on

_counts: dict[str, int] = {}
_lock = threading.Lock()


def about_to_call(op: str, *values_of_call: object, group: Any = None, **metadata: object) -> None:
    """Write one line to stderr: rank, step, the call's number, its group, what it is about to do, and a hash of that.

        guard.about_to_call("all_reduce", grad, group=dp_group, bucket=i)

        raf: rank 2 step 17: call 41 on dp [0-3]: all_reduce float32[1024] bucket=3 #5d1c09 trainer.py:88

    The hash covers the op, the shapes and dtypes of tensors and the other values, but not the content of tensors. Call
    n of a group must have the same hash on all ranks, unless its shapes may differ. Nothing is sent, nobody waits.

    Off: nothing. Without a group: the line, without group and rank.
    """
    if not guards_on():
        return
    found = members(group)
    what = " ".join(
        [op, *map(_words, values_of_call), *(f"{key}={_words(value)}" for key, value in metadata.items())]
    )
    mark = f"{values.digest(what, 24):06x}"
    step = place.current_step()
    number = _number(found.ident if found else "")
    head = f"rank {found.me}" if found else "one rank"
    where = f" on {found.label}" if found else ""
    line = (
        f"raf: {head}{f' step {step}' if step else ''}: call {number}{where}: {what} #{mark} {place.site()}\n"
    )
    # One write, so that lines of several ranks do not mix.
    sys.stderr.write(line)
    watchers.decided("about_to_call", op, mark)


def _number(group: str) -> int:
    with _lock:
        _counts[group] = _counts.get(group, 0) + 1
        return _counts[group]


def _words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_words, value))}]"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return values.text(value)
