"""Which Python function each call of a program really called: what `resolvers.py` holds answers against.

Put on PYTHONPATH as `sitecustomize`: ranks write one line per call expression and callee, as they first see them.
"""

import json
import os
import sys
import threading
from pathlib import Path


def absolute(file: str) -> str:
    return str(Path(file).absolute())


def record(folder: str, roots: list[str]) -> None:
    out = Path(folder, f"calls-{os.getpid()}.jsonl").open("a", buffering=1)  # noqa: SIM115
    wanted: dict[str, bool] = {}
    seen: set[tuple[object, int, object, object]] = set()
    positions: dict[object, list[tuple[int | None, ...]]] = {}

    def note(frame, event, _):
        caller = frame.f_back if event == "call" else None
        if caller is None:
            return
        code = caller.f_code
        file = code.co_filename
        if file not in wanted:
            wanted[file] = file[:1] != "<" and any(absolute(file).startswith(root) for root in roots)
        if not wanted[file]:
            return
        own = frame.f_locals.get("self", frame.f_locals.get("cls")) if frame.f_code.co_argcount else None
        kind = own if isinstance(own, type) else type(own)
        key = (code, caller.f_lasti, frame.f_code, kind)
        if key in seen:
            return
        seen.add(key)
        if code not in positions:
            positions[code] = list(code.co_positions())
        place = positions[code][caller.f_lasti // 2]
        if None in place:
            return
        called = frame.f_code
        line = {
            "file": absolute(file), "place": place, "callee": absolute(called.co_filename),
            "line": called.co_firstlineno, "name": called.co_name,
            "classes": [] if own is None else [each.__name__ for each in kind.__mro__],
        }  # fmt: skip
        out.write(json.dumps(line) + "\n")

    threading.setprofile(note)
    sys.setprofile(note)


if os.environ.get("CALLS_TO") and "RANK" in os.environ:
    record(os.environ["CALLS_TO"], os.environ["CALLS_OF"].split(":"))
