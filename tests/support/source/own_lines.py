"""Lines that one rank alone wrote last, put into a case."""

from __future__ import annotations

import msgspec
import polars as pl

from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.raw import columns_of
from rankandfile.model.case import Case


def with_lines(case: Case, *said: tuple[int, str]) -> Case:
    """What single ranks wrote last."""
    events = [Event(line=n, offset=0, kind="own_last_line", shape="P9", role="fact", rank=rank, text=line)
              for n, (rank, line) in enumerate(said)]  # fmt: skip
    if events:
        columns = columns_of(events)
        known = {name: columns[name] for name in ("line", "kind", "rank", "text") if name in columns}
        rows = pl.DataFrame(known).with_columns(log=pl.lit(0))
        schema = case.events.schema
        rows = rows.select(pl.col(name).cast(schema[name]) for name in rows.columns)
        case = msgspec.structs.replace(case, events=pl.concat([case.events, rows], how="diagonal"))
    return case
