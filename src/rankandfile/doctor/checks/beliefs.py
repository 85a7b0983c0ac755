"""Commands that show a belief about hangs that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Command, Finding

ORDER = 140
_UTILISATION = re.compile(r"\bnvidia-smi\b.*--query-gpu[= ]utilization\.gpu(?![\w.,])")
_ANY_UTILISATION = re.compile(r"\b(?:nvidia-smi|dcgmi)\b.*utili[sz]ation|\bnvidia-smi dmon\b", re.IGNORECASE)
_RAS = re.compile(r"\bncclras\b|\b28028\b")
_SAYS_OK = re.compile(r"\bgrep\b.*\bOK\b")
_WATCHDOG = re.compile(r"\b(?:grep|rg)\b.*(?:Watchdog caught|watchdog|NCCL.*timeout)", re.IGNORECASE)
_FIRST = re.compile(r"^head (?:-n ?1|-1)\b|\s(?:-m ?1|--max-count[= ]1)\b")
_JSON = re.compile(r"\bnccl_trace\S*\.json\b")


def check(setup: JobSetup) -> Iterator[Finding]:
    lines: dict[tuple[str, int | None], list[Command]] = {}
    for command in setup.settings.commands:
        lines.setdefault((command.place.file, command.place.line), []).append(command)
    for commands in lines.values():
        texts = [command.text for command in commands]
        for says, fix in _wrong(texts, any(command.probe for command in commands)):
            yield setup.finding("useless", says, fix, at=commands[0].place, variable="", costs="nothing")


def _wrong(texts: list[str], probe: bool) -> Iterator[tuple[str, str]]:
    """The commands of one line, pipes included."""
    whole = " | ".join(texts)
    if _UTILISATION.search(whole) or (probe and _ANY_UTILISATION.search(whole)):
        yield (
            "GPU utilisation as a sign of life: a rank that spins in a collective shows 100 %",
            "watch steps finished, or power; utilisation proves nothing",
        )
    if _RAS.search(whole) and (probe or _SAYS_OK.search(whole)):
        yield (
            "RAS as a sign of health: its OK does not mean that nothing hangs",
            "compare the counts of the ranks, and watch steps finished",
        )
    if _WATCHDOG.search(whole) and any(_FIRST.search(text) for text in texts):
        yield (
            "the first rank that logged a timeout is a messenger: whose timer ran out first, usually a waiter",
            "raf diagnose on all dumps and logs",
        )
    if _JSON.search(whole):
        yield (
            "no nccl_trace_*.json is ever written: a dump is a pickle per rank, at the path prefix plus the rank",
            "collect <prefix>0, <prefix>1, ...",
        )
