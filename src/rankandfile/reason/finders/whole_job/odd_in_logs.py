"""One rank's log says what no other's does: no proof, and often what decides between two stories."""

from __future__ import annotations

import re
from typing import NamedTuple

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.log_words import TOOK_UP
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.logged_divergences import elsewhere
from rankandfile.reason.ranks.from_logs.no_longer_alike import no_longer_alike
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import counted, ranks_words, upper, verb

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


#: `'stop': False` says that it did not.
_DENIED = re.compile(r"(?i)\b\w+['\"]?\s*[:=]\s*(?:false|none|no|0)\b")
#: What a program reads: that the ranks' numbers of it differ is a reason to part.
_INPUTS = re.compile(
    r"(?i)batch|sampl|shard|example|row|record|item|file|sequence|document|utterance|image|chunk|part|token|step|iter"
    r"|length|data"
)


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
        told = _DENIED.sub("", text)
        cause = next((cause for cause, pattern in _CAUSES if pattern.search(told)), "undetermined")
    elif row["kind"] == "value_differs":
        words = f'wrote "{text}", where {counted(others, "other")} wrote "{other}"'
        inputs = "uneven_inputs" if _INPUTS.search(text) and _fewer(fields, text) else "undetermined"
        # Who goes on from another place makes its own calls there.
        cause = "different_collective" if TOOK_UP.search(text) else inputs
    elif row["kind"] == "value_differs_now":
        words, cause = no_longer_alike(row), "undetermined"
    else:
        words, cause = (
            f'came to "{text}" in its log, and {counted(others, "other")} to "{other}"',
            "undetermined",
        )
    place = event_id(int(str(row["log"])), int(str(row["line"])))
    return _Said(int(str(row["rank"])), words, cause, place, row["kind"] == "line_alone")


def _fewer(fields: dict[str, object], text: str) -> bool:
    """Who has more than the others does not run out first; a part of a date, a time or a path counts nothing."""
    value, usual = (str(fields.get(name, "")) for name in ("value", "usual"))
    counts = value.isdigit() and re.search(rf"(?<![\w.:/-]){value}(?![\w/-]|[.:]\d)", text) is not None
    return counts and usual.isdigit() and int(value) < int(usual)


@finder(precedence=90, of="logs")
@heuristic("line of one log", "what one rank's log says and no other's tells what it did")
def odd_in_logs(facts: Facts, _: WaitEnd) -> Finding | None:
    if (left := _left_and_elsewhere(facts)) is not None:
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


def _left_and_elsewhere(facts: Facts) -> Finding | None:
    """A few alone said that they left the others' way, and their last lines are others than those of all others."""
    said = {} if facts.call_table.calls.height else elsewhere(facts)
    if not said or len({one.cause for one in said.values()}) != 1:
        return None
    named = tuple(sorted(said))
    first, last = said[named[0]], facts.accounts.last_lines
    those = tuple(sorted(last.keys() - said.keys()))
    example = last[those[-1]]
    own = (
        f', and that of {ranks_words([first.rank])} "{last[first.rank]}"'
        if last[first.rank] != first.words
        else ""
    )
    doing = {rank: f'wrote, alone of {len(last)} ranks: "{one.words}"' for rank, one in said.items()}
    return Finding(
        cause=first.cause,
        confidence="hypothesis",
        hang=facts.hung or bool(facts.accounts.watched) or None,
        sentence=(
            f"{upper(ranks_words(named))} {doing[first.rank]}. The last line of {ranks_words(those[-1:])} is "
            f'"{example}"{own}: {verb(named, "it is", "they are")} elsewhere, and may have left out calls that the '
            "others made."
        ),
        culprits=named,
        doing=doing,
        victims=those,
        location=first.place,
        evidence=tuple(one.evidence for one in said.values())[:4],
        alternatives=(
            perhaps(
                "different_collective",
                "It may have come there in another way.",
                named,
                decided_by="the code that prints that line",
            ),
        ),
        missing=(
            Missing(what="where each rank stands", how="stacks of all ranks: py-spy dump --pid PID, twice"),
        ),
        unadvised=("probes",),
    )


@teller(precedence=190)
@heuristic("alone to say so", "who alone of all wrote that it left something out, or stops, did so")
def said_so_alone(facts: Facts, asked: AskedRank) -> Story | None:
    """A rank that others wait for wrote, alone of all, that it left something out or was about to stop."""
    for one in said_differently(facts.case):
        if one.rank == asked.rank and one.cause != "undetermined":
            return Story(
                cause=one.cause,
                confidence="supported" if len(asked.waiting) > 1 else "hypothesis",
                doing=one.words,
                evidence=(one.evidence,),
                by_a_line=True,
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
