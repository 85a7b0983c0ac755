"""The score: like parts of an orchestra, one line for each rank or cohort, and the calls from left to right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import Score, Sheet, Track
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts

from . import grid, kinds
from .roles import Roles
from .seams import seams

#: Sheets of single groups, besides that of all calls.
_MOST_GROUPS = 6
#: Waits that are gone through for the groups of a job.
_MOST_PENDING = 200


def score(facts: Facts, diagnosis: Diagnosis) -> Score:
    calls, table = kinds.numbered(facts)
    described, frames = kinds.described(facts, table)
    roles = Roles(diagnosis)
    cited = _cited(facts, diagnosis)
    named = _named(facts, diagnosis, {group for group, _, _ in cited})
    diverged = {*named, *((group, slot) for group, slot, _ in cited if not named)}
    across = len({group for group, _, _ in cited}) > 1
    sheets = [
        sheet
        for group, slot in _groups(facts, [*named, *((group, slot) for group, slot, _ in cited)])
        if (sheet := _group_sheet(facts, calls, roles, group, slot, not across and (group, slot) in diverged))
        is not None
    ]
    whole = _whole_sheet(facts, calls, roles, min((record for _, _, record in cited), default=None))
    if whole is not None and across:
        # Where they diverged lies between groups: only the calls of all of them in order show it.
        whole.diverged_at = whole.focus
        sheets.insert(0, whole)
    elif whole is not None:
        sheets.append(whole)
    return Score(kinds=described, frames=frames, sheets=sheets)


def _cited(facts: Facts, diagnosis: Diagnosis) -> list[tuple[int, int | None, int]]:
    """Group, slot and record of each call that the first verdict's divergence cites."""
    divergence = diagnosis.verdicts[0].divergence if diagnosis.verdicts else None
    found = []
    for cohort in divergence.cohorts if divergence is not None else []:
        for evidence in cohort.call.evidence if cohort.call else []:
            dump, _, record = evidence.removeprefix("D").partition("#")
            if record:
                rows = facts.call_table.calls.filter(
                    (pl.col("dump") == int(dump)) & (pl.col("record") == int(record))
                )
                found += rows.head(1).select("group", "slot", "record").rows()
    return found


def _named(facts: Facts, diagnosis: Diagnosis, cited: set[int]) -> list[tuple[int, int | None]]:
    """The group in which they diverged, where every call that is cited is one of another group."""
    divergence = diagnosis.verdicts[0].divergence if diagnosis.verdicts else None
    if divergence is None or divergence.seq is None or not cited:
        return []
    for pending in facts.waits.pending[:_MOST_PENDING]:
        if pending.slot == divergence.seq and lookup.group_words(facts, pending.group) == divergence.group:
            return [] if pending.group in cited else [(pending.group, pending.slot)]
    return []


def _groups(facts: Facts, cited: list[tuple[int, int | None]]) -> Iterator[tuple[int, int | None]]:
    """The groups that the verdict is about, then others that somebody waits in; and the slot to look at."""
    seen: dict[int, int | None] = {}
    for group, slot in cited:
        seen.setdefault(group, slot)
    for wait_end in facts.wait_ends:
        for index in wait_end.pending:
            pending = facts.waits.pending[index]
            seen.setdefault(pending.group, pending.slot)
    for pending in facts.waits.pending[:_MOST_PENDING]:
        seen.setdefault(pending.group, pending.slot)
    if not seen and facts.call_table.calls.height:
        seen[int(facts.call_table.calls["group"][0])] = None
    yield from list(seen.items())[:_MOST_GROUPS]


def _group_sheet(
    facts: Facts, calls: pl.DataFrame, roles: Roles, group: int, slot: int | None, diverged: bool
) -> Sheet | None:
    rows = calls.filter((pl.col("group") == group) & pl.col("slot").is_not_null())
    if not rows.height:
        return None
    members = facts.membership.members.get(group) or rows["rank"].unique().to_list()
    numbers = rows.select("rank", pl.col("slot").alias("number"), "cell")
    sheet = _sheet(numbers, members, roles, slot, f"group {lookup.group_words(facts, group)}", "seq")
    if diverged:
        sheet.diverged_at = slot
    _align(facts, group, sheet)
    return sheet


def _whole_sheet(facts: Facts, calls: pl.DataFrame, roles: Roles, focus: int | None) -> Sheet | None:
    if not calls.height:
        return None
    numbers = calls.select("rank", pl.col("record").alias("number"), "cell")
    ranks = sorted({*facts.case.ranks_seen, *roles.culprits})
    return _sheet(numbers, ranks, roles, focus, "all groups", "call")


def _sheet(
    rows: pl.DataFrame, members: list[int], roles: Roles, focus: int | None, title: str, by: str
) -> Sheet:
    low, high = int(rows["number"].min()), int(rows["number"].max())  # type: ignore[arg-type]
    ranks = np.array(sorted(members), np.int64)
    at = grid.window(low, high, len(ranks), focus)
    inside = rows.filter(pl.col("number").is_between(at.first, at.first + at.columns - 1))
    inside = inside.filter(pl.col("rank").is_in(members))
    cells = grid.fill(
        at, len(ranks),
        np.searchsorted(ranks, inside["rank"].to_numpy()), inside["number"].to_numpy(), inside["cell"].to_numpy(),
    )  # fmt: skip
    found, left_out = grid.merged(
        ranks, cells, [roles.of(int(rank)) for rank in ranks], None if focus is None else focus - at.first
    )
    found, at = grid.cut_to_size(found, at, focus)
    tracks = [
        Track(
            ranks=format_ranks(row.ranks), count=len(row.ranks), role=row.role, path=0, alike=row.alike,
            cells=np.trim_zeros(row.cells, "b").astype("<u2").tobytes(),
        )
        for row in found
    ]  # fmt: skip
    return Sheet(
        title=title, numbered_by="seq" if by == "seq" else "call", first=at.first, columns=at.columns,
        tracks=tracks, focus=focus, earlier=at.earlier, later=at.later, left_out=left_out,
    )  # fmt: skip


def _align(facts: Facts, group: int, sheet: Sheet) -> None:
    """Number the paths of the tracks, and say how to move those that diverged from the normal one."""
    paths = facts.paths_of_groups.get(group)
    if paths is None:
        return
    path_of = {rank: number for number, path in enumerate(paths.paths) for rank in path.ranks}
    for track in sheet.tracks:
        track.path = path_of.get(int(track.ranks.replace("-", ",").split(",")[0]), 0)
    normal = max(
        (t for t in sheet.tracks if t.path == 0), key=lambda t: (len(t.cells), t.count), default=None
    )
    if normal is None:
        return
    diverged = {i: _kinds_of(track) for i, track in enumerate(sheet.tracks) if track.path}
    ours, theirs = seams(_kinds_of(normal), diverged)
    for number, track in enumerate(sheet.tracks):
        track.seams = ours if track.path == 0 else theirs.get(number, ours)


def _kinds_of(track: Track) -> np.ndarray:
    cells = np.frombuffer(track.cells, "<u2").astype(np.int64)
    return np.where(cells > 0, (cells - 1) // 4 + 1, 0).astype(np.uint64)
