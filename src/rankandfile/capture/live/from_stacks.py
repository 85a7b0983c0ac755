"""Where a rank stands, by the stack of its main thread as py-spy has taken it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rankandfile.capture.live.standing import Place, Stands
from rankandfile.capture.watch.rings import Seen
from rankandfile.evidence.tables.frames import is_torch_frame
from rankandfile.reason.ranks.activity import CodePlace, classify

#: `in all_reduce ← main, train.py:16`; `in all_reduce, train.py:16` of a line in no function; `in fit, train.py:16`.
_AT = re.compile(r"(?: ← [\w<>.]+|^in (?P<own>[\w<>.]+))?,? (?:in )?[\w.-]+:\d+$")


def stands(seen: Seen, stack: Path) -> Stands | None:
    """None where there is no stack in the file."""
    try:
        threads = json.loads(stack.read_bytes())
    except (OSError, ValueError):
        return None
    thread = _main(threads, seen.pid)
    if thread is None:
        return None
    frames = [_frame(one) for one in thread.get("frames") or () if isinstance(one, dict)]
    doing = classify(frames)
    if doing is None:
        return None
    site = frames[doing.site]
    state = "waits" if doing.waits == "ranks" else "runs" if thread.get("active") else "sleeps"
    return Stands(
        seen.rank,
        seen.pid,
        state,
        _without_place(doing.phrase, doing.frame == doing.site),
        Place(site.file, site.line, site.function),
    )


def _without_place(phrase: str, at_its_own: bool) -> str:
    """What it does there, where that is more than to be there: the place has a column of its own. `at_its_own`: what it
    is in is the function of that place, and nothing that was called from there."""
    return _AT.sub(lambda at: "" if at_its_own or at["own"] is None else f"in {at['own']}", phrase)


def _main(threads: Any, pid: int) -> dict[str, Any] | None:
    whole = [one for one in threads if isinstance(one, dict)] if isinstance(threads, list) else []
    main = [one for one in whole if one.get("os_thread_id") == pid]
    return next(iter(main or whole), None)


def _frame(row: dict[str, Any]) -> CodePlace:
    function, file = str(row.get("name", "?")), str(row.get("filename", "?"))
    line = row.get("line")
    return CodePlace(function, file, line if isinstance(line, int) else 0, is_torch_frame(file))
