"""Native stacks as gdb (``thread apply all bt``), pstack and eu-stack print them, Python's between them or not.

Thread 2 (Thread 0x7f5b11ffb700 (LWP 4243) "pt_nccl_watchdg"):
#0  0x00007f5b2c0a1c6b in epoll_wait () from /lib/x86_64-linux-gnu/libc.so.6
#1  __GI___poll (fds=0x7f00, nfds=1) at ../sysdeps/unix/sysv/linux/poll.c:29
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks import bounds
from rankandfile.evidence.text.stacks.collector import Draft, frame
from rankandfile.evidence.text.stacks.stream import Block, Format, Stream

ORDER = 60

_THREAD = re.compile(
    r"^\s*Thread ((?:\d{1,4}\.)?\d{1,9}) \((?:Thread (0x[0-9a-f]{1,16}) )?\(?(?:LWP|process) (\d{1,10})\)?"
    r"(?: \"(.{0,64})\")?\):?\s*$"
)
#: The latter is systemd's, of a core.
_TID = re.compile(r"^\s*(?:TID|Stack trace of thread) (\d{1,10}):\s*$")
_PID = re.compile(r"\(process (\d{1,10})\b")
_ATTACHES = re.compile(
    r"(?:Attaching to process |^PID |"
    r"\b(?:gdb|pstack|gstack|eu-stack)\b.{0,200}?(?:(?:\s-p|\s--pid)[ =]?|\s)(?=\d+(?:\s|$)))(\d{1,10})\b"
)
#: gdb lets a process go.
_DETACHED = re.compile(r"^\s*\[Inferior \d+ \(process \d+\) detached\]")
_ALONE = re.compile(r"^\s*(?:\(gdb\) )?#0\s+(?:0x[0-9a-f]{1,16} in )?\S.* (?:\(.*\)(?: (?:from|at) \S+)?)$")
_FRAME = re.compile(r"^\s*(?:\(gdb\) )?#(\d{1,4})\s+(?:0x[0-9a-f]{1,16}(?: in)? )?(?:- 1 )?(\S.*)$")
_PYTHON = re.compile(r'^\s*File "(.*)", line (\d{1,9}), in (.*)$')
_PYTHON_OLD = re.compile(
    r"^#\d{1,4}\s+Frame 0x[0-9a-f]{1,16}, for file (.{1,500}?), line (\d{1,9}), in (\S+)"
)
#: What a person typed between the C frames of a thread and its Python frames may stand there as well.
_PYTHON_HEAD = re.compile(
    r"^\(gdb\) (?:py-bt|py-list|python-bt|up|down)?(?:-full)?\s*$"
    r"|^\s*(?:\(gdb\) )?Traceback \(most recent call first\):"
    r"|^\s*\((?:unable|frame information|More stack frames follow)"
    r"|^\s+<(?:built-in|method|bound)[ -].*>$"
)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
#: What systemd has for a place.
_OFFSET = re.compile(r" \((\S{1,400}) \+ 0x[0-9a-f]{1,16}\)$")
_PLACE = re.compile(r" (?:at (.+):(\d{1,9})|from (\S+)|- (/\S+))$")


def _open(number: int, text: str, stream: Stream) -> Block | None:
    if match := _THREAD.match(text):
        draft = Draft(
            number,
            thread_id=bounds.hexadecimal(match[2]),
            os_thread=bounds.decimal(match[3]),
            name=match[4] or "",
        )
        block = _Thread(draft, stream)
        if match[1].rpartition(".")[2] == "1":
            # gdb's first thread is the process's own.
            _process(draft.os_thread, stream)
        return block

    if match := _TID.match(text):
        return _Thread(Draft(number, os_thread=bounds.decimal(match[1])), stream)
    if match := _ATTACHES.search(text):
        stream.begin(pid=bounds.decimal(match[1]))
    elif match := _PID.search(text):
        _process(bounds.decimal(match[1]), stream)
        if _DETACHED.match(text):
            stream.end()
    elif _ALONE.match(text):
        block = _Thread(Draft(number, os_thread=_attached(stream)), stream, alone=True)
        block.feed(text)
        return block
    return None


def _attached(stream: Stream) -> int | None:
    """A debugger that was told a process stands in its first thread, which has the same number."""
    return None if stream.process is None else stream.collector.processes[stream.process].pid


def _process(pid: int | None, stream: Stream) -> None:
    if stream.process is None:
        stream.begin(pid=pid)
    elif stream.collector.processes[stream.process].pid is None:
        stream.collector.processes[stream.process].pid = pid


class _Thread:
    complete = False

    def __init__(self, draft: Draft, stream: Stream, *, alone: bool = False) -> None:
        """`alone`: without a heading, of a process of one thread. The next one like it is another look."""
        self.stream = stream
        self.draft = draft
        self.draft.native = True
        self.process = stream.snapshot_with("alone" if alone else draft.os_thread)

    def feed(self, text: str) -> bool:
        frames = self.draft.frames
        if not text.strip():
            # What gdb prints of Python stands below the C frames of the same thread.
            return True
        if match := _PYTHON_OLD.match(text):
            frames.append(frame(match[3], match[1], bounds.decimal(match[2])))
            self.draft.native = False
            return True
        if match := _FRAME.match(text):
            if match[1] == "0" and frames:
                return False
            if len(frames) < 2 * (bounds.INNER + bounds.OUTER):
                function, file, line = place(match[2])
                frames.append(frame(function, file, line))
            return True
        if match := _PYTHON.match(text):
            frames.append(frame(match[3], match[1], bounds.decimal(match[2])))
            self.draft.native = False
            return True
        if not self.draft.native and text.startswith("    "):
            # py-bt shows the source under each frame.
            self.draft.code = self.draft.code or text.strip()
            return True
        return _PYTHON_HEAD.match(text) is not None

    def close(self) -> None:
        self.stream.collector.add(self.process, self.draft, "gdb")


def place(text: str) -> tuple[str, str, int | None]:
    """Function, file and line of what stands behind a frame's number: arguments are left out."""
    file, line = "??", None
    if match := _OFFSET.search(text):
        return text[: match.start()], match[1], None
    if match := _PLACE.search(text):
        file = match[1] or match[3] or match[4]
        line = bounds.decimal(match[2])
        text = text[: match.start()]
    return _without_arguments(text), file, line


def _without_arguments(text: str) -> str:
    """`f<(A)1>(int) (x=1, y="(")` is `f<(A)1>(int)`: the last group in parentheses goes."""
    text = _QUOTED.sub('""', text).rstrip()
    if not text.endswith(")"):
        return text
    cut = text.rfind(" (")
    depth = 0
    for index in range(len(text) - 1, max(0, len(text) - bounds.TEXT), -1):
        if text[index] == ")":
            depth += 1
        elif text[index] == "(":
            depth -= 1
            if depth == 0:
                return text[:index].rstrip() if index > 0 and text[index - 1] == " " else text
    return text[:cut] if cut > 0 else text


FORMAT = Format(r"process |Stack trace of|Thread |#0 |TID |PID |gdb |stack ", _open)
