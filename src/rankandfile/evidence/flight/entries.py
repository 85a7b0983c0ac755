"""What an entry of a flight recorder holds, and the check of one: the recorder's own words for it.

`columns` reads whole dumps of well-formed entries, `repair` what is left of others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankandfile.evidence.flight.interning import Interner, Malformed, boolean, integer, text
from rankandfile.evidence.raw import Kind

#: Column -> key of an entry. Format 1.x counted collectives and sends together, as `seq_id`.
INTEGER_KEYS = {
    "record": "record_id",
    "seq": "collective_seq_id",
    "p2p_seq": "p2p_seq_id",
    "op_id": "op_id",
    "created_ns": "time_created_ns",
    "started_ns": "time_discovered_started_ns",
    "completed_ns": "time_discovered_completed_ns",
}
_OLD_KEYS = {"seq": "seq_id"}
TIMES = {"created_ns", "started_ns", "completed_ns"}

#: Columns that every version has: where one is missing, the dump is damaged or of an unknown make.
ALWAYS = {"record", "seq", "created_ns"}

#: Keys that make the kind of a call, with what stands in for one that a format version does not have.
KIND_KEYS: dict[str, Any] = {
    "profiling_name": "",
    "process_group": None,
    "frames": None,
    "input_sizes": [],
    "output_sizes": [],
    "input_dtypes": [],
    "output_dtypes": [],
    "state": "",
    "retired": False,
    "is_p2p": None,
    "timeout_ms": None,
    "thread_id": "",
    "thread_name": "",
    "pg_id": None,
}
_STATES = {"scheduled", "started", "completed"}


def key_of(column: str, present: Any) -> str | None:
    """The key that holds a column, among those present; None if none does."""
    key = INTEGER_KEYS[column]
    if key in present:
        return key
    old = _OLD_KEYS.get(column)
    return old if old in present else None


def parser(interner: Interner, keys: list[str]) -> Callable[[tuple[Any, ...]], Kind]:
    """A function that makes a call's kind from the values of these keys; it raises `Malformed` on a bad one."""

    def parse(row: tuple[Any, ...]) -> Kind:
        values = {**KIND_KEYS, **dict(zip(keys, row, strict=True))}
        name = text(values["profiling_name"])
        state = text(values["state"])
        if state not in _STATES:
            raise Malformed(f"unknown state '{state[:40]}'")
        is_p2p = values["is_p2p"]
        timeout = values["timeout_ms"]
        return Kind(
            name=name,
            group=_group(interner, values),
            thread=interner.thread(text(values["thread_id"]), text(values["thread_name"])),
            shape=interner.shape(
                values["input_sizes"], values["input_dtypes"], values["output_sizes"], values["output_dtypes"]
            ),
            stack=interner.stack(values["frames"]),
            state=state,
            retired=boolean(values["retired"]),
            is_p2p=_looks_p2p(name) if is_p2p is None else boolean(is_p2p),
            timeout_ms=None if timeout is None else integer(timeout),
        )

    return parse


def _group(interner: Interner, values: dict[str, Any]) -> int:
    group, local = values["process_group"], values["pg_id"]
    if group is None:
        # Format 1.x has no names: the process's own number takes its place until the members are known.
        group = (f"#{integer(local)}", "")
    if type(group) not in (tuple, list) or len(group) != 2:
        raise Malformed("expected a group's name and description")
    own = "" if local is None else str(integer(local))
    number = interner.group(text(group[0]), text(group[1]), own)
    if local is not None:
        interner.local_numbers.setdefault(own, number)
    return number


def _looks_p2p(name: str) -> bool:
    return name.partition(":")[2].startswith(("send ", "recv "))
