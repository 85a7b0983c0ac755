"""This rank's calls of one series: numbered as the others number theirs, and remembered for those who ask."""

from __future__ import annotations

from collections import deque

from rankandfile.runtime.plan.calls import Call, Request
from rankandfile.runtime.plan.judge import Post

#: Calls that can still be asked about.
_KEPT = 1024


class Series:
    def __init__(self, request: Request, me: int) -> None:
        self.ident, self.label, self.ranks, self.me = request.series, request.group, request.ranks, me
        self.group = request.series.partition("/")[0]
        self.messages = request.message >= 0
        self.count = 0
        self.past: deque[Call] = deque(maxlen=_KEPT)
        self.asked: set[int] = set()
        """Numbers that others want to know of, and this rank is not at yet."""
        self.posted: set[int] = set()
        self.mixed: set[int] = set()
        """Ways that were taken while others took another, with the agreement of all."""
        self.settled = 0
        self.silent = False
        """Others would number its calls otherwise: messages are taken from anybody, too."""
        self.threads = False
        """Other threads than the main one make calls of it: who waits there may still make the next."""

    @property
    def title(self) -> str:
        if not self.messages:
            return f"call {{}} on {self.label}"
        sender, _, receiver = self.ident.partition("/")[2].partition("/")[0].partition(">")
        return f"message {{}} from rank {sender} to rank {receiver} on {self.label}"

    def post_of(self, call: Call) -> Post:
        request = call.request
        return Post(
            rank=self.me,
            words=request.words,
            contract=request.contract,
            way=request.way.digest,
            novelty=call.novelty.value,
            mixed=request.way.digest in self.mixed,
            group=self.label,
            at=call.at,
            sends=request.message if request.op == "send" else -1,
            receives=request.message if request.op != "send" else -1,
            frames=request.way.frames,
            shadows=request.way.shadows,
        )
