"""A file of stacks: of py-spy, faulthandler, the debug server, gdb. It may go on as a log."""

from __future__ import annotations

import re

from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.text.reading import read_stacks

_STACKS = re.compile(
    r"^(Current thread|Thread) 0x[0-9a-f]+.*most recent call first|^Fatal Python error|^Thread [0-9]+ \("
    r"|^Process [0-9]+: |^Thread [0-9]+ \((idle|active)|^Traceback for thread"
    r"|^=== Rank [0-9]+: .*(pyspy|traceback)",
    re.MULTILINE,
)
#: One of them stands in what `_STACKS` finds; most files have none.
_SIGNS = ("hread ", "Fatal Python error", "Process ", "=== Rank ")
#: What these tools print, under any short prefix, heading or note: nothing else prints such lines.
_ANYWHERE = re.compile(
    r"^.{0,80}?Thread (?:0x[0-9A-F]{1,16}|\d{1,10}) \((?:idle|active|active\+gil)\)(?:: \"|$)"
    r"|^.{0,80}?Traceback for thread \d{1,10} "
    # gdb, pstack and eu-stack, of a program of any language: only such frames have an address, or a place behind.
    r"|^\s{0,8}(?:\(gdb\) )?#0 +(?:0x[0-9a-f]{4,16} (?:in )?(?:- 1 )?\S|[\w:~<>]+ \(.*\) (?:at|from) \S)"
    # lldb, and systemd of a core.
    r"|^\s*(?:\* )?frame #0: 0x[0-9a-f]{4,16} \S+`|^\s*Stack trace of thread \d+:",
    re.MULTILINE,
)
#: What a program prints of itself, and no exception.
_PRINTED = re.compile(r'^.{0,60}?File:? "[^"\n]{1,1000}", line \d{1,9},? in \S', re.MULTILINE)
_FEWEST = 3
_NAME = re.compile(r"(stacks|pyspy_dump)_[0-9_]+\.txt")


def _announced(head: Head) -> bool:
    text = head.words or ""
    return any(sign in text for sign in _SIGNS) and _STACKS.search(text) is not None


def _somewhere(head: Head) -> bool:
    text = head.text or ""
    return ("hread " in text or "#0" in text) and _ANYWHERE.search(text) is not None


def _printed(head: Head) -> bool:
    text = head.text or ""
    return (
        '", line ' in text and "Traceback (most recent" not in text and len(_PRINTED.findall(text)) >= _FEWEST
    )


def _by_name(head: Head) -> bool:
    """The report of failed workers at the top can be longer than the head."""
    return head.words is not None and _NAME.match(head.name) is not None


KIND = FileKind(
    "stacks",
    (
        Sign(150, lambda head: head.keys[1] >= {"thread_id", "frames"}),
        Sign(230, _announced),
        # A prefix such as `[0] ` makes it look like JSON.
        Sign(235, _somewhere),
        Sign(240, _printed),
        Sign(310, _by_name),
    ),
    read_stacks,
)
