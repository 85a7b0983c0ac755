"""Signals by number and by the words that shells, kernels and launchers have for them."""

from __future__ import annotations

_NAMES = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
    9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip

_WORDS = {
    "hangup": 1, "interrupt": 2, "quit": 3, "illegal instruction": 4, "trace/breakpoint trap": 5, "aborted": 6,
    "bus error": 7, "floating point exception": 8, "killed": 9, "out of memory": 9, "segmentation fault": 11,
    "broken pipe": 13, "terminated": 15,
}  # fmt: skip


def by_number(number: int) -> str | None:
    """``SIGKILL`` of 9 or -9."""
    return _NAMES.get(abs(number))


def by_words(words: str) -> str | None:
    """``SIGKILL`` of ``Killed``, ``9``, ``SIGKILL`` or ``Signals.SIGKILL``; None of what names no signal."""
    words = words.strip().rpartition(".")[2]
    if words.startswith("SIG"):
        return words
    if words.isascii() and words.isdigit():
        return by_number(int(words[:6]))
    lowered = words.lower()
    for phrase, number in _WORDS.items():
        if lowered.startswith(phrase):
            return _NAMES[number]
    return None


def of_exit(code: int) -> str | None:
    """The signal behind an exit code: -9 as Python has it, 137 as shells and Kubernetes do."""
    if code < 0:
        return by_number(code)
    return _NAMES.get(code - 128) if 128 < code < 160 else None
