"""One rank's log says what no other's does: no proof, and often what decides between two stories."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import counted, ranks_words, upper

_MOST = 4

#: What a line that one rank alone wrote says that it did.
_CAUSES = (
    ("skipped_collective", re.compile(r"(?i)\b(?:skip\w*|drop\w*|ignor\w*)\b")),
    (
        "uneven_inputs",
        re.compile(
            r"(?i)\bbatch\w*\b.{0,40}\b(?:finished|ended|done)|\b(?:finished|ended|done)\b.{0,40}\bbatch\w*"
            r"|\b(?:exhaust\w*|no more (?:data|batch\w*|samples)|empty)\b"
        ),
    ),
    (
        "early_exit",
        re.compile(
            r"(?i)\b(?:stop\w*|early|leaving|signal|sig(?:term|int|usr)\w*|preempt\w*|interrupt\w*)\b"
        ),
    ),
)


#: What a program reads: that the ranks' numbers of it differ is a reason to part.
_INPUTS = re.compile(
    r"(?i)batch|sampl|shard|example|row|record|item|file|sequence|document|utterance|image|chunk|part|token|step|iter"
    r"|length|data"
)


_SHAPE = re.compile(r"\d+(?:\.\d+)?")


class _Said(NamedTuple):
    rank: int
    words: str
    """`wrote, alone of 4 ranks: "got signal 15"`."""
    cause: str
    evidence: str
    alone: bool
    """No other wrote such a line."""


def said_differently(case: Case) -> list[_Said]:
    return [_said(row) for row in case.compared_lines]


def _said(row: dict[str, object]) -> _Said:
    fields = fields_of(row)
    text, others, other = str(row["text"]), fields.get("others", 0), fields.get("other", "")
    if row["kind"] == "line_alone":
        words = f'wrote, as the only one of {others + 1} ranks: "{text}"'
        cause = next((cause for cause, pattern in _CAUSES if pattern.search(text)), "undetermined")
    elif row["kind"] == "value_differs":
        words = f'wrote "{text}", where {counted(others, "other")} wrote "{other}"'
        cause = "uneven_inputs" if _INPUTS.search(text) else "undetermined"
    else:
        words, cause = (
            f'came to "{text}" in its log, and {counted(others, "other")} to "{other}"',
            "undetermined",
        )
    place = event_id(int(str(row["log"])), int(str(row["line"])))
    return _Said(int(str(row["rank"])), words, cause, place, row["kind"] == "line_alone")


@finder(precedence=90, of="logs")
def odd_in_logs(facts: Facts, _: WaitEnd) -> Finding | None:
    if (left := _left_out_and_elsewhere(facts)) is not None:
        return left
    said = said_differently(facts.case)[:_MOST]
    if not said:
        return None
    told = "; ".join(f"{ranks_words([one.rank])} {one.words}" for one in said)
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        # That logs differ is no sign of a hang; that a watch over the job gave up is one.
        hang=facts.hung or bool(facts.accounts.watched),
        sentence=f"No line tells of a failure or of a call. What the ranks' logs say differently: {told}.",
        evidence=tuple(one.evidence for one in said),
        alternatives=tuple(
            perhaps(
                one.cause if one.cause != "undetermined" else "host_blocked",
                f"{upper(ranks_words([one.rank]))} {one.words}.",
                [one.rank],
                decided_by="its stack (py-spy dump --pid PID), or the code that prints that line",
            )
            for one in {one.rank: one for one in reversed(said)}.values()
        ),
        missing=(
            Missing(what="where each rank stands", how="stacks of all ranks: py-spy dump --pid PID, twice"),
        ),
        unadvised=("probes",),
    )


#: Ranks that must agree on their last line, for one that has another to be out of line.
_FEWEST_ALIKE = 3
_SKIPS = re.compile(r"(?i)skip|non-finite|\bnan\b|drop|ignor")


def _left_out_and_elsewhere(facts: Facts) -> Finding | None:
    """One rank alone said that it left something out, and its last line is another than that of all others."""
    events = facts.case.events
    rows = events.filter(
        pl.col("kind").cast(pl.String).is_in(["left_out", "nan"])
        & pl.col("text").str.contains(_SKIPS.pattern)
    ).sort("log", "line")
    ranks = set(rows["rank"].to_list())
    last = {rank: _SHAPE.sub("#", line) for rank, line in facts.accounts.last_lines.items()}
    if len(ranks) != 1 or None in ranks or not ranks <= last.keys() or facts.call_table.calls.height:
        return None
    rank = ranks.pop()
    others = {shape for other, shape in last.items() if other != rank}
    if len(others) != 1 or last[rank] in others or len(last) - 1 < _FEWEST_ALIKE:
        return None
    row, example = (
        rows.row(-1, named=True),
        next(line for r, line in facts.accounts.last_lines.items() if r != rank),
    )
    those = tuple(sorted(last.keys() - {rank}))
    doing = f'wrote, alone of {len(last)} ranks: "{row["text"]}"'
    return Finding(
        cause="skipped_collective",
        confidence="hypothesis",
        hang=facts.hung or None,
        sentence=(
            f'The last line of {ranks_words(those)} is "{example}", and that of {ranks_words([rank])} '
            f'"{facts.accounts.last_lines[rank]}": it is elsewhere. Before that, it {doing}: it may have '
            "left out calls that the others made."
        ),
        culprits=(rank,),
        doing={rank: doing},
        victims=those,
        evidence=(event_id(row["log"], row["line"]),),
        alternatives=(
            perhaps(
                "different_collective",
                "It may have come there in another way.",
                [rank],
                decided_by="the code that prints that line",
            ),
        ),
        missing=(
            Missing(what="where each rank stands", how="stacks of all ranks: py-spy dump --pid PID, twice"),
        ),
        unadvised=("probes",),
    )


@teller(precedence=190)
def said_so_alone(facts: Facts, asked: AskedRank) -> Story | None:
    """A rank that others wait for wrote, alone of all, that it left something out or was about to stop."""
    for one in said_differently(facts.case):
        if one.rank == asked.rank and one.cause != "undetermined":
            return Story(
                cause=one.cause,
                confidence="supported" if len(asked.waiting) > 1 else "hypothesis",
                doing=one.words,
                evidence=(one.evidence,),
                alternatives=(
                    perhaps(
                        "host_blocked",
                        "The line may have nothing to do with it.",
                        [asked.rank],
                        decided_by="its stack",
                    ),
                ),
            )
    return None
