"""Dumps were given, and none of them can be used: how many, why, and what would make them usable."""

from __future__ import annotations

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Missing
from rankandfile.reason.ranks.missing_dumps import NAME_THEM

_WHOSE = f"{NAME_THEM}; through a pipe only an archive keeps the names: `tar c DUMPS | raf -`"


def unused_dumps(case: Case) -> tuple[str, list[Missing]]:
    """A sentence on why no dump counts, and what is missing for it; empty where one does, or none was given."""
    aside = case.dumps.filter(pl.col("set_aside").is_not_null())
    if case.dumps_used.height or not aside.height:
        return "", []
    reasons = aside["set_aside"].value_counts(sort=True)
    reason, alike = reasons.row(0)
    which = "The one dump here" if aside.height == 1 else f"Each of the {aside.height:,} dumps here"
    others = f"; the other {aside.height - alike:,} for other reasons" if reasons.height > 1 else ""
    nobodys = aside["rank"].null_count()
    missing = [
        Missing(what=f"whose {'dump this is' if aside.height == 1 else 'dumps these are'}", how=_WHOSE)
    ]
    return f"{which} was set aside: {reason}{others}.", missing if nobodys else []
