"""NCCL refuses to set up: some ranks run another version of it than the others.

Each rank names the first one whose version is not its own, so all of them together tell which one is out of line.
"""

from __future__ import annotations

from collections import Counter

import polars as pl

from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.over import BROKE_OFF, over_at_once
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, verb

_NUMBERED_ANEW = 10_000
_MOST = 3


@finder(precedence=28, of="job")
def versions_differ(facts: Facts, _: WaitEnd) -> Finding | None:
    rows = (
        facts.case.events.filter(pl.col("kind").cast(pl.String) == "nccl_versions_differ")
        .sort("log", "line")
        .rows(named=True)
    )
    if not rows or facts.call_table.calls.height:
        return None
    told: dict[int, set[str]] = {}
    of_job = True
    for row in rows:
        fields = fields_of(row)
        for name in ("one", "other"):
            told.setdefault(int(fields[name]), set()).add(_version(int(fields[f"version_of_{name}"])))
        of_job = of_job and row["rank"] in (None, int(fields["other"]))
    by_version: dict[str, list[int]] = {}
    for rank, versions in sorted(told.items()):
        for version in versions:
            by_version.setdefault(version, []).append(rank)
    usual, most = Counter({version: len(ranks) for version, ranks in by_version.items()}).most_common(1)[0]
    odd = tuple(rank for rank, versions in sorted(told.items()) if versions != {usual})
    # Of two ranks nobody knows which one has the wrong version.
    alone = of_job and most > len(odd) and all(len(versions) == 1 for versions in told.values())
    named = odd if alone else ()
    sure = alone and any(row["rank"] is not None for row in rows)
    runs = "; ".join(
        f"{ranks_words(ranks)} {verb(ranks, 'runs', 'run')} {version}"
        for version, ranks in sorted(by_version.items(), key=lambda pair: len(pair[1]))
    )
    over = over_at_once(facts)
    numbers = "" if of_job else " These are numbers in the communicator."
    again = " It is tried again, and fails each time." if any(row["repeats"] > 1 for row in rows) else ""
    doing = dict.fromkeys(
        named, f"runs NCCL {', '.join(sorted(told[odd[0]]))}, the others {usual}" if odd else ""
    )
    return Finding(
        cause="init_stuck",
        confidence="supported" if sure or not named else "hypothesis",
        hang=None if over else True,
        sentence=(
            f"NCCL's setup fails, as its versions differ (Mismatched NCCL version): {runs}.{numbers}{again}"
            f"{f' {BROKE_OFF}' if over else ''}"
        ),
        culprits=named,
        doing=doing,
        victims=tuple(rank for rank in told if rank not in named) if named else (),
        evidence=tuple(event_id(row["log"], row["line"]) for row in rows[:_MOST]),
        contradicted_by="a line of NCCL's that shows another version on that rank",
        alternatives=()
        if named
        else (
            perhaps("init_stuck", "Whichever of them has the wrong image.", decided_by="the images of both"),
        ),
        missing=(
            Missing(
                what=f"where the other version of {ranks_words(odd) if odd else 'NCCL'} comes from",
                how="the image and LD_LIBRARY_PATH of that host: `python -c 'import torch; "
                "print(torch.cuda.nccl.version())'` on each; all need one version",
            ),
        ),
    )


def _version(number: int) -> str:
    """22501 is 2.25.1, and 2804 is 2.8.4."""
    ten = 100 if number >= _NUMBERED_ANEW else 10
    major, rest = divmod(number, 100 * ten)
    return f"{major}.{rest // 100}.{rest % 100}"
