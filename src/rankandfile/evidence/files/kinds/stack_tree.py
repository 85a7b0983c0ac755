"""A merged tree of the stacks of all tasks, as STAT writes it for graphviz."""

from __future__ import annotations

import re

from rankandfile.evidence.files.kind import FileKind, Sign
from rankandfile.evidence.text.stacks.merged_tree import read_tree

_GRAPH = re.compile(r"^\s*(?:strict\s+)?digraph\b")
#: Who went along an arrow: `63:[0-36,38-63]`; or a frame with its place.
_STAT = re.compile(r'label="(?:\d+:\[[\d,\- .]*\]|/"|[^"\n]*@[^"\n]*:[\d?]+)')

KIND = FileKind(
    "stack_tree",
    (
        Sign(
            225,
            lambda head: (
                _GRAPH.match(head.words or "") is not None and _STAT.search(head.words or "") is not None
            ),
        ),
    ),
    read_tree,
)
