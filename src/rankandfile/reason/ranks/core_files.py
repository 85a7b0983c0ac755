"""Where the core file of a process that died should lie, by the kernel's own pattern for their names."""

from __future__ import annotations

import re

import polars as pl

from rankandfile.model.case import Case

from .from_logs.accounts import Accounts

#: The kind of exit facts that hold a host's `core_pattern`. It is no end of anybody.
PATTERN = "core_pattern"

_DUMPS_CORE = (
    "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGXCPU", "SIGXFSZ", "SIGSYS",
)  # fmt: skip
_PART = re.compile(r"%(.)")


def core_file(case: Case, accounts: Accounts, rank: int) -> tuple[str, str] | None:
    """`its core file: /cores/core.*.4242`, and the evidence; None where the kernel leaves none, or nothing tells."""
    end = accounts.ends.get(rank)
    if end is None or not any(signal in end.words for signal in _DUMPS_CORE):
        return None
    host = accounts.hosts.get(rank)
    patterns = case.exits.filter(pl.col("kind").cast(pl.String) == PATTERN)
    of_host = patterns.filter(pl.col("host") == host) if host is not None else patterns.clear()
    everywhere = patterns.filter(pl.col("host").is_null())
    found = of_host if of_host.height else everywhere
    if not found.height or found["error"].n_unique() > 1:
        return None
    pids = case.exits.filter((pl.col("rank") == rank) & pl.col("pid").is_not_null())["pid"].unique().to_list()
    pid = str(pids[0]) if len(pids) == 1 else "*"
    return _words(str(found["error"][0]), pid, host), str(found["evidence"][0])


def _words(pattern: str, pid: str, host: str | None) -> str:
    if pattern.startswith("|"):
        program = pattern[1:].split()[0] if pattern[1:].split() else "a program"
        return f"its host hands core files to {program}, which has it"
    known = {"p": pid, "P": pid, "i": "*", "h": host or "*", "%": "%"}
    path = _PART.sub(lambda part: known.get(part[1], "*"), pattern)
    where = "" if path.startswith("/") else ", in its working directory"
    return f"its core file: {path}{where}"
