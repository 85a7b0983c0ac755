"""What a rank did between two looks at it, seen from outside: whoever works is late, and not stuck."""

from __future__ import annotations

from typing import Annotated

import msgspec

#: The kind of the rows of `exits` that carry one, as JSON in `error`.
WORK = "work"

Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Count = Annotated[str, msgspec.Meta(max_length=40, pattern=r"^(?:[A-Za-z]{1,24} )?[0-9./% of]*$")]
"""`12/200`, `6 %`, `batch 7`."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    rank: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    over_s: Seconds
    """From the first look to the last."""
    main_s: Seconds
    """For so long its main thread ran, or would have if a processor had been free."""
    threads_s: Seconds = 0.0
    """The same of the busiest of its other threads."""
    below_s: Seconds = 0.0
    """The same of the busiest thread of the processes that it has started."""
    bytes: Annotated[int, msgspec.Meta(ge=0)] = 0
    """What it and those have read and written."""
    first: Count = ""
    last: Count = ""
    """How far its output said that it was, after the last call and at the last look, where that went on."""
    went_on_s: Seconds | None = None
    """So long after the last look, the job made calls again."""

    @property
    def words(self) -> str:
        times = f"main thread {self.main_s:g} s, another {self.threads_s:g} s, children {self.below_s:g} s"
        parts = [f"in {self.over_s:g} s: {times}, {self.bytes} bytes"]
        parts += [f"its output went from {self.first} to {self.last}"] if self.last else []
        parts += [f"calls again {self.went_on_s:g} s later"] if self.went_on_s is not None else []
        return "; ".join(parts)
