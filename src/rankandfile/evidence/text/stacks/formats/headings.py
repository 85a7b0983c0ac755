"""What a person writes above a stack: whose it is, and when it was taken.

=== rank 3 (node07) ===
--- RANK=3 LOCAL_RANK=3 pid 220120
$ date; py-spy dump --pid 88427
Fri Aug 29 19:33:15 CEST 2025
# 10:00:20
# kill -USR1 71 on trainer-2 at 10:05:12Z, again at 10:11:42Z
$ ssh node07 pystack remote 4711

A sentence that speaks of a rank is no heading: that is marked as one, or says little else.
"""

from __future__ import annotations

import re

from rankandfile.evidence.text.stacks.stream import Block, Format, Stream
from rankandfile.evidence.text.stamps import Stamp, month, stamp, time_of_day

ORDER = 5

#: Nothing but the rank, and where it ran.
_ALONE = re.compile(
    r"^[\W_]*(?:global )?rank[ _=:#]*(\d{1,6})\b[\W_]*"
    r"(?:(?:on|at|host|node|pid|gpu|local)\b[^.]{0,60}|\([^()]{0,60}\)[\W_]*|[\w.-]*\d[\w.-]*[\W_]*)?$",
    re.IGNORECASE,
)
_RANK = re.compile(
    r"(?<![A-Za-z])(?P<inner>(?:local|node|group|role|tp|pp|dp|ep|cp)[ _-])?(?:(?:global|world)[ _-])?rank(?:[ _]?id)?"
    r"[ =:#_]{0,3}(?P<number>\d{1,6})(?![\w.])",
    re.IGNORECASE,
)
_MARKED = re.compile(r"\s*(?:[#>+$]\s|[=#*~>+-]{2,})")
_STACK = re.compile(
    r"\s*(?:Process \d|Thread |=== Rank|File \"|#\d|Traceback|Stack trace)|.*Exception raised from"
)
#: What a person notes behind a command.
_COMMENT = re.compile(r"^\s*[$>#]\s.*\s(#\s.*)$")
#: No part of a host's name.
_WORD = re.compile(r"(?<![\w.-])[A-Za-z]{2,}(?![\w-]*\d)")
_PLAIN = re.compile(
    r"(?i)(?:rank|global|world|local|pid|host|node|pod|gpu|on|of|for|at|stacks?|dump|spy|py|pystack|gdb|bt|process)$"
)
_LONGEST = 200
#: Words beside the usual ones of a heading that is marked as one; another has none.
_MOST = 4
_CALENDAR = re.compile(
    r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:(?P<month>[A-Z][a-z]{2}) {1,2}(?P<day>\d{1,2})) "
    r"(?P<clock>\d\d:\d\d:\d\d)(?: (?P<half>[AP]M))?"
    r"(?: [A-Z]{2,5}| [+-]\d{2,4})?(?: (?P<year>\d{4}))?\b"
)
_ISO = re.compile(r"^\W*(?:date\W*)?(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d:\d\d)\b.{0,40}$")
_CLOCK = re.compile(
    r"(?:^|[#=>-])\W*(?:(?:again|at|time|date|taken|once more|second look)\W+)*(\d\d:\d\d(?::\d\d)?)\W*$"
)
#: In a heading that says whose the stack is, or what took it: at its end, or each time behind a word.
_AT = re.compile(r"(?:\b(?:at|again|and)\s+|\s)(\d\d:\d\d:\d\d)(?:[.,]\d+)?Z?(?=\W*(?:$|again|and\b))")
_TAKEN = re.compile(
    r"(?i)\bpid\b|\brank|kill -|py-?spy|pystack|gdb|gstack|pstack|dump|stack|\b(?:look|snapshot|sample|round) ?#?\d"
)
_PID = re.compile(r"(?i)(?<![a-z])pid[ =:#]{1,3}(\d{2,10})\b")
_HOST = re.compile(
    r"(?i)(?<![a-z])(?:host|node)(?:name)?[ =:]{1,3}(?=[a-z])([\w.-]{0,60}\d[\w.-]{0,60})(?![\w/])"
)
#: Open MPI's and PRRTE's launchers take stacks of all that they started when its time is over.
_LAUNCHED = re.compile(
    r"^STACK TRACE FOR PROC \[(?:\[\d+,\d+\]|[^\]\s]{1,200}@\d+),(\d{1,7})\] \(([\w.-]{1,200}), PID (\d{1,10})\)"
)
#: A command that is run elsewhere, and takes a stack there.
_REMOTE = re.compile(
    r"^\W{0,6}(?:ssh (?:-\S+ )*(?:[\w.-]+@)?(?P<host>[A-Za-z][\w.-]{0,200}) "
    r"|(?:kubectl|oc) (?:-\S+ (?:[\w.-]+ )?)*exec (?:-(?:it|ti|i|t|q) |-[nc] [\w.-]+ |--\S+ )*"
    r"(?:pod/)?(?P<pod>[a-z][\w.-]{0,200}) "
    r"|(?:docker|podman) exec (?:-\S+ )*(?P<container>[A-Za-z][\w.-]{0,200}) "
    r"|srun .{0,80}?(?:-w |--nodelist[= ])(?P<node>[A-Za-z][\w.-]{0,200}) )"
)


def _open(_number: int, text: str, stream: Stream) -> Block | None:
    if len(text) > _LONGEST:
        return None
    if match := _COMMENT.match(text):
        text = match[1]
    if launched := _LAUNCHED.match(text):
        process = stream.collector.processes[stream.begin(pid=int(launched[3]))]
        process.rank, process.rank_from, process.host = int(launched[1]), "content", launched[2]
        return None
    if remote := _REMOTE.match(text):
        stream.end()
        stream.host = next(filter(None, remote.groups()))
    alone = _ALONE.match(text)
    rank = int(alone[1]) if alone else _rank(text)
    taken = [] if alone else _times(text)
    last = None if stream.process is None else stream.collector.processes[stream.process]
    if rank is not None or taken:
        stream.end()
    if rank is not None:
        stream.headed = rank
        if on := _HOST.search(text):
            stream.host = on[1]
        stream.headed_pid = int(told[1]) if (told := _PID.search(text)) else None
    elif taken and last is not None and "again" in text.lower():
        stream.headed, stream.headed_pid = last.rank, last.pid
    if taken:
        stream.at_ns, *stream.later = [one.ns for one in taken]
    return None


def _rank(text: str) -> int | None:
    """The one rank of a heading with more words; None where it is no heading, or speaks of several."""
    if _STACK.match(text):
        return None
    told = {int(match["number"]) for match in _RANK.finditer(text) if not match["inner"]}
    more = [word for word in _WORD.findall(text) if not _PLAIN.match(word)]
    return told.pop() if len(told) == 1 and len(more) <= (_MOST if _MARKED.match(text) else 0) else None


def _times(text: str) -> list[Stamp]:
    """Of one look, or of several that are below."""
    if (one := _time(text)) is not None:
        return [one]
    if not (_MARKED.match(text) and _TAKEN.search(text)) or _STACK.match(text):
        return []
    return [found for clock in _AT.findall(text) if (found := time_of_day(clock, None)) is not None]


def _time(text: str) -> Stamp | None:
    """Of a day where one is told; what is not told is no matter, where only looks are compared."""
    if match := _CALENDAR.search(text):
        clock = _of_24(match["clock"], match["half"])
        return stamp(
            int(match["year"]) if match["year"] else None, month(match["month"]), int(match["day"]), clock
        )
    if match := _ISO.match(text):
        return stamp(int(match[1]), int(match[2]), int(match[3]), match[4])
    if match := _CLOCK.search(text):
        return time_of_day(match[1] if match[1].count(":") == 2 else f"{match[1]}:00", None)
    return None


def _of_24(clock: str, half: str | None) -> str:
    hours = int(clock[:2]) % 12 + (12 if half == "PM" else 0)
    return f"{hours:02}{clock[2:]}" if half else clock


FORMAT = Format(r"(?i:rank)|\d\d:\d\d\b|\bssh |\bexec |\bsrun |STACK TRACE FOR PROC ", _open)
