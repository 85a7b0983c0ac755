"""A wait as claims: these ranks are in a call, and those have not come to it. The document's row is made from both."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rankandfile.model.claims import InCall, Joined, NeverIssued, Unseen
from rankandfile.model.diagnosis import Wait

Awaited = NeverIssued | Joined | Unseen


class WaitRow(Struct, frozen=True, kw_only=True):
    here: InCall
    awaited: Awaited | None = None
    """None: everybody has come, and asked for different things, or the call does not end."""
    by: Literal["device", "host"] = "device"

    def wait(self) -> Wait:
        return Wait(
            ranks=self.here.ranks,
            waits_for=self.awaited.ranks if self.awaited else "",
            group=self.here.group,
            seq=self.here.seq,
            op=self.here.op,
            by=self.by,
            evidence=[*self.here.evidence, *(self.awaited.evidence if self.awaited else ())],
            unseen=isinstance(self.awaited, Unseen),
        )
