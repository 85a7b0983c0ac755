"""Whom their own logs name: who alone wrote what a handler, or the arm of a test, writes.

Nobody is named where the evidence names somebody already; nor rank 0 alone, as programs let it write for all.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.ranks import format_ranks
from rankandfile.source.lines.found_line import FoundLine
from rankandfile.source.lines.from_logs.told_by_log import Wrote


def who_wrote_it(verdict: Verdict, found: FoundLine, wrote: Sequence[Wrote]) -> NamedByCode | None:
    ranks = tuple(one.rank for one in wrote)
    open_ = verdict.family == "paths" or verdict.cause == "undetermined"
    if not wrote or not verdict.hang or verdict.culprits or not open_:
        return None
    suspects = {one.rank for one in verdict.suspects}
    if (suspects and suspects != {*ranks}) or ranks == (0,):
        return None
    first, several = wrote[0], len(ranks) > 1
    who = f"ranks {format_ranks(ranks)}" if several else f"rank {first.rank}"
    caught = found.kind == "caught"
    doing = f"caught an exception at {found.at}, and went on" if caught else f"went another way at {found.at}"
    return NamedByCode(
        ranks=ranks,
        doing=doing,
        sentence=f'In the logs, {who} alone wrote "{first.text}", which the code under {found.at} writes ({first.at}).',
        cause="swallowed_exception" if caught else None,
        evidence=tuple(one.evidence for one in wrote),
    )
