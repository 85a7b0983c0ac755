"""What a job leaves beside its dumps: stacks, lines of its watchdogs, exceptions, ends of processes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.events import log_schema
from rankandfile.model.tables import schema
from rankandfile.model.work import WORK, Work
from rankandfile.reason import diagnose

Frame = tuple[str, str, int]
"""Function, file, line."""

TORCH = "/opt/venv/lib/python3.11/site-packages/torch"
C10D = f"{TORCH}/distributed/distributed_c10d.py"

#: Stacks as they are met, innermost frame first.
IN_ALL_REDUCE: list[Frame] = [("all_reduce", C10D, 3252), ("step", "/workspace/trainer.py", 63)]
IN_BARRIER: list[Frame] = [("barrier", C10D, 5356), ("shutdown", "/workspace/parallel.py", 52)]
IN_INIT: list[Frame] = [("init_process_group", C10D, 1700), ("connect", "/workspace/train.py", 33)]
IN_LOADER: list[Frame] = [
    ("wait", "/usr/lib/python3.11/threading.py", 331),
    ("get", "/usr/lib/python3.11/queue.py", 180),
    ("_try_get_data", f"{TORCH}/utils/data/dataloader.py", 1251),
    ("__next__", f"{TORCH}/utils/data/dataloader.py", 701),
    ("epoch", "/workspace/data.py", 31),
]
LEAVING: list[Frame] = [("_shutdown", "/usr/lib/python3.11/threading.py", 1590)]


def at(line: int, function: str = "load", file: str = "/workspace/data.py") -> list[Frame]:
    """In the program's own code."""
    return [(function, file, line)]


@dataclass
class Witnesses:
    """Adds to a case, one sentence at a time; `case` is what came of it."""

    case: Case
    _seen: dict[tuple[Frame, ...], int] = field(default_factory=dict)
    """Stacks that were added, each once, as they are kept."""

    def exit(self, rank: int, how: str | int, role: str | None = None, kind: str = "list") -> Witnesses:
        """`how`: an exit code, a signal, `running`, `stopped`."""
        lives = how in ("running", "stopped")
        signal = how if isinstance(how, str) and not lives else None
        code = how if isinstance(how, int) else None
        echo = signal in ("SIGTERM", "SIGABRT")
        row = {
            "rank": rank, "pid": 1000 + rank, "exit_code": code, "signal": signal, "kind": kind,
            "state": how if lives else "signalled" if signal else "exited",
            "time_ns": 1_800_000_000_000_000_000 if how == "stopped" else None,
            "role": role or ("echo" if echo else "origin" if signal else "fact"),
            "source": "exits.json", "evidence": f"X{self.case.exits.height}",
        }  # fmt: skip
        return self._with("exits", [row])

    def reached_no_more(self, rank: int, why: str) -> Witnesses:
        row = {
            "rank": rank, "kind": "list", "state": "lost", "role": "fact", "error": why,
            "source": "exits.json", "evidence": f"X{self.case.exits.height}",
        }  # fmt: skip
        return self._with("exits", [row])

    def worked(self, rank: int, **what: Any) -> Witnesses:
        """What was seen of its process in four seconds; nothing, where nothing is said."""
        told = Work(**{"rank": rank, "over_s": 4.0, "main_s": 0.0, **what})
        row = {
            "rank": rank, "kind": WORK, "role": "fact", "error": msgspec.json.encode(told).decode(),
            "source": "work.json", "evidence": f"X{self.case.exits.height}",
        }  # fmt: skip
        return self._with("exits", [row])

    def event(self, kind: str, role: str, rank: int | None, text: str = "", **more: Any) -> Witnesses:
        """One line of the rank's log; columns by name, anything else goes to the fields."""
        columns = log_schema("events")
        own = {name: value for name, value in more.items() if name in columns}
        rest = {name: value for name, value in more.items() if name not in columns}
        log = 90 if rank is None else rank
        row = {
            "log": log, "line": self.case.events.height + 1, "kind": kind, "shape": "", "role": role, "rank": rank,
            "text": text or kind, "fields": json.dumps(rest) if rest else None, **own,
        }  # fmt: skip
        return self._with("events", [row]).log(log, rank)

    def log(self, number: int, rank: int | None, last_line: str = "step 8 loss 0.4") -> Witnesses:
        """A log file of the rank, if it has none yet."""
        if (self.case.logs["log"] == number).any():
            return self
        return self._with(
            "logs", [{"log": number, "rank": rank, "source": f"logs/rank_{rank}.log", "last_line": last_line}]
        )

    def raised(self, rank: int, error: str, *, role: str = "origin", thread: str | None = None) -> Witnesses:
        exception, _, message = error.partition(": ")
        more = {"thread": thread} if thread else {}
        frames = [["check", "/workspace/data.py", 41], ["epoch", "/workspace/trainer.py", 12]]
        return self.event(
            "traceback", role, rank, error, exception=exception, message=message, frames=frames, **more
        )

    def gave_up(
        self, rank: int, seq: int, op: str = "ALLREDUCE", size: int = 64, *, group: str = "0", **more: Any
    ) -> Witnesses:
        """The watchdog of the rank gave up on this call, and says how far the rank had come."""
        said = {"group_name": group, "group_desc": group, "group_rank": None, "seq": seq, "op": op, **more}
        limit = said.pop("timeout_ms", 600_000)
        self.event(
            "watchdog_timeout", "messenger", rank, size_in=size, size_out=size, timeout_ms=limit, **said
        )
        return self.event("watchdog_progress", "messenger", rank, enqueued=seq, completed=seq - 1, **said)

    def answered(self, rank: int, enqueued: int, group: str = "0") -> Witnesses:
        """It answered the dump signal of another rank, with its counters of the default group."""
        return self.event(
            "dump_signal", "fact", rank, group_name=group, group_desc=group, enqueued=enqueued, completed=enqueued
        )  # fmt: skip

    def counted(self, rank: int, enqueued: int, completed: int, group: int = 0) -> Witnesses:
        """The counters at the beginning of the rank's dump."""
        dump = self.case.dumps.filter(pl.col("rank") == rank)["dump"][0]
        row = {"rank": rank, "group": group, "dump": dump}
        return self._with("statuses", [{**row, "last_enqueued": enqueued, "last_completed": completed}])

    def stack(
        self,
        rank: int,
        *snapshots: list[Frame],
        running: bool | None = None,
        role: str = "main",
        asked: str | None = None,
        variables: str | None = None,
    ) -> Witnesses:
        """Its main thread in as many snapshots as there are stacks, in order of time."""
        for frames in snapshots:
            self._with(
                "stack_files", [{"file": self.case.stack_files.height, "source": "stacks.txt", "rank": rank}]
            )
            seen = self.case.snapshots.filter(pl.col("rank") == rank).height
            row = {
                "file": self.case.stack_files.height - 1, "line": 1, "rank": rank, "pid": 1000 + rank,
                "ordinal": seen, "shows": "now", "role": role, "thread_name": "MainThread", "active": running,
                "stack": self._stack(frames), "asked": asked, "locals": variables,
            }  # fmt: skip
            self._with("snapshots", [row])
        return self

    def _stack(self, frames: list[Frame]) -> int:
        if (known := self._seen.get(tuple(frames))) is not None:
            return known
        numbers = []
        for function, file, line in frames:
            number = self.case.frames.height + 1000
            library = "/torch/" in file or file.startswith("/usr/lib/")
            self._with(
                "frames",
                [{"frame": number, "function": function, "file": file, "line": line, "is_torch": library}],
            )
            numbers.append(number)
        stack = self.case.stacks.height + 1000
        self._with("stacks", [{"stack": stack, "frames": numbers, "site": numbers[-1]}])
        self._seen[tuple(frames)] = stack
        return stack

    def _with(self, table: str, rows: list[dict[str, Any]]) -> Witnesses:
        columns = schema(table)
        more = pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=columns)
        self.case = replace(self.case, **{table: pl.concat([getattr(self.case, table), more])})
        return self


def best(told: Witnesses | Case) -> Verdict:
    diagnosis = diagnose(told.case if isinstance(told, Witnesses) else told)
    verdict = diagnosis.verdicts[0]
    assert set(verdict.evidence) <= {e.id for e in diagnosis.evidence}, "an id that leads nowhere"
    return verdict


def blamed(verdict: Verdict) -> list[int]:
    return [culprit.rank for culprit in verdict.culprits]


def suspected(verdict: Verdict) -> list[int]:
    return [suspect.rank for suspect in verdict.suspects]
