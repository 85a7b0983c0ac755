"""What a command of the site complained of, in one line, with what to do where that is known."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from rankandfile.evidence.files.blobs import shown

#: Lines that only say that something went wrong, or that nothing did.
_EMPTY_WORDS = re.compile(
    r"^command terminated with exit code|^srun: error: \S+: tasks? \S+: (Exited|Terminated|Killed)"
    r"|^srun: (Job|Force|launch/)|^Defaulted container|^\S*tar: (Exiting with failure|Removing leading)"
    r"|^Warning: Permanently added|^Killed by signal|^Connection to \S+ closed"
)
_LONGEST = 200
#: What stands in a complaint, and what to do about it.
_ADVICE = (
    ("Host key verification failed", "connect once by hand, or --through 'ssh -o StrictHostKeyChecking=accept-new'"),
    ("Permission denied (", "nobody can type a password for many machines: load a key with ssh-add"),
    ("Unable to create step", "the job gives no room for a step: try --through 'srun --gres=none --mem=0'"),
    ("Memory required by task is not available", "try --through 'srun --mem=0'"),
    ('exec: "sh"', "the image has no shell: kubectl debug, or only its logs"),
)  # fmt: skip


def reason(said: str, status: int) -> str:
    """Standard error and exit status of a command that failed -> why.

    >>> reason("cat: /x: No such file\\ncommand terminated with exit code 1", 1)
    'cat: /x: No such file'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if not _EMPTY_WORDS.search(line)] or lines
    if not telling:
        return f"ended by {_name(-status)}" if status < 0 else f"ended with status {status}"
    line = shown(telling[-1][:_LONGEST])
    advice = next((what for sign, what in _ADVICE if sign in line), "")
    return f"{line} ({advice})" if advice else line


def and_more(names: Sequence[str]) -> str:
    """
    >>> and_more(["a", "b", "c", "d"])
    'a, b and 2 more'
    """
    if len(names) < 4:
        return ", ".join(map(shown, names))
    return f"{', '.join(map(shown, names[:2]))} and {len(names) - 2:,} more"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
