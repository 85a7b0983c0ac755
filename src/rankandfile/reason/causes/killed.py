"""Its process was killed: by a signal, its own where it aborted before all others, or for want of memory."""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import AskedRank, Facts, Story, perhaps

CAUSE = Cause(
    word="killed",
    family="process",
    place=20,
    meaning="A process was killed by a signal.",
    help="The other ranks wait for a process that is gone. Look for what ended it: the kernel for want of memory, the "
    "scheduler, a crash in native code, or the process itself (SIGABRT).",
    remedies=(
        Remedy(
            title="Find what ended the process",
            text="Look at its last lines, at dmesg of its host and at the scheduler's log. SIGKILL with an "
            "out-of-memory line in dmesg: the host's memory (loader workers count); any other was sent by somebody. "
            "SIGABRT: the process aborted itself, and its last lines say on what (a failed assertion, an exception in "
            "native code). SIGSEGV or SIGBUS: a crash in native code, or a full /dev/shm. SIGPIPE: it wrote to a child "
            "process or a socket that had gone, and the program had given the signal its default action back. SIGXFSZ "
            "or SIGXCPU: a limit on the size of files or on processor time.",
        ),
    ),
    anti_advice=(FIRST_LOGGER,),
    did="was killed",
    title="A process was killed",
    page="""
## How it comes about

Signal 9 with an out-of-memory line in the kernel log, a segfault in native code, or a scheduler that takes a node
back. The process says nothing; its log simply ends. Exit status, `dmesg` and the launcher's log are the evidence: put
them beside the dumps.
""",
    scenario="killed-oom",
)


@teller(precedence=10)
def by_a_signal(facts: Facts, asked: AskedRank) -> Story | None:
    end = facts.accounts.ends.get(asked.rank)
    if end is None or end.kind != "killed":
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported" if end.contradicted else "established",
        doing=end.words,
        evidence=end.evidence,
        contradicted=end.contradicted,
    )


@teller(precedence=85)
def by_its_own_hand(facts: Facts, asked: AskedRank) -> Story | None:
    """It alone aborted, out of the call that others wait in, and no line of it tells whether its watchdog did it."""
    accounts = facts.accounts
    end = accounts.ends.get(asked.rank)
    if end is None or not end.aborted or asked.rank in accounts.logged or not asked.proved:
        return None
    if asked.rank in facts.hosts or sum(one.aborted for one in accounts.ends.values()) > 1:
        return None
    return Story(
        cause=CAUSE.word,
        confidence="hypothesis",
        doing=f"{end.words}, and no line of it is here to tell why",
        evidence=end.evidence,
        alternatives=(
            perhaps(
                "host_blocked",
                "It may have been held up on its host until the watchdog ended it.",
                [asked.rank],
                decided_by="the last lines of its log",
            ),
        ),
    )
