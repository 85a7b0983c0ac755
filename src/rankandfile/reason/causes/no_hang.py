"""Found by `too_short_timeout` where no watchdog gave up, and where nothing that was recorded waits."""

from __future__ import annotations

from rankandfile.model.causes import Cause

CAUSE = Cause(
    word="no_hang",
    family="not_a_fault",
    place=20,
    meaning="No rank waits for another.",
    help="Every call that was recorded has ended, or the job went on afterwards.",
    title="Nobody waits",
    page="""
## How it comes about

Dumps are also written by jobs that work, and by jobs that were stopped on purpose. Where every call has ended, that is
what the verdict says, and the exit status is 0.
""",
    scenario="healthy-3d",
)
