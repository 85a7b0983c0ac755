"""Investigations scored: what each concludes, what of it is cited and checks out, and what it takes.

What an investigation says is what it hands a person: a verdict of the document counts if it was held against the case
and accepted there, and sentences count by the check of claims. The diagnosis behind it is not asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from rankandfile.agent.bench import Bench
from rankandfile.agent.claims import check
from rankandfile.agent.claims.parse import CitedSentence, Quote, parts
from rankandfile.agent.journal import Journal
from rankandfile.agent.playbook import Draft, draft
from rankandfile.agent.tools.propose_verdict import Proposal
from rankandfile.lab import truth as truths
from rankandfile.lab.diagnosed import bench_of
from rankandfile.model.ranks import parse_ranks

from .answer import Answer, Site, from_diagnosis
from .corpus import was_looked_at
from .judge import Marks, judge

#: Adds what a model has to say, and how much it took.
Consult = Callable[[Draft], "Added"]


class Added(msgspec.Struct, kw_only=True):
    verdict: Proposal | None = None
    ended: str = ""
    findings: int = 0
    dropped: int = 0
    tokens: int = 0
    cost: float | None = None


class Case(msgspec.Struct, kw_only=True):
    """One incident investigated."""

    marks: Marks
    diagnosis: Marks
    """Of `diagnose --src` on the same incident, to compare with."""
    sentences: int
    """Of the document, with its quotes of code."""
    unsupported: int
    """Of these, that cite nothing, or more than what they cite says."""
    fix: bool | None
    """The fix of the diagnosis is in it, where there is one as a diff."""
    added: Added | None = None
    model: Marks | None = None
    """Of the verdict of the model, where it has one."""
    seconds: float = 0.0


class Investigated(msgspec.Struct, kw_only=True):
    investigator: str
    cases: list[Case]


def investigated(
    name: str, found: Sequence[Path], consult: Consult | None, on_done: Callable[[], None]
) -> Investigated:
    cases = []
    for incident in found:
        cases.append(_case(incident, consult))
        on_done()
    return Investigated(investigator=name, cases=cases)


def _case(incident: Path, consult: Consult | None) -> Case:
    began = time.perf_counter()
    src = incident / "src"
    bench = bench_of([incident / "evidence"], [src] if src.is_dir() else [])
    judged = partial(judge, truths.read(incident), dumps_only=False, looked=was_looked_at(incident))
    play = draft(bench)
    own = len(play.journal.steps)
    added = consult(play) if consult is not None else None
    document = play.close().document
    problems = check(document, bench, play.journal.results)
    said = answer_of(bench, play.journal, own)
    said.seconds = time.perf_counter() - began
    theirs = added.verdict if added is not None else None
    return Case(
        marks=judged(said),
        diagnosis=judged(from_diagnosis(bench.diagnosis)),
        sentences=sum(isinstance(part, (CitedSentence, Quote)) for part in parts(document)),
        unsupported=len({problem.line for problem in problems}),
        fix=_fix_is_told(bench, document),
        added=added,
        model=None if theirs is None else judged(_answer(bench, [theirs])),
        seconds=said.seconds,
    )


def answer_of(bench: Bench, journal: Journal, steps: int) -> Answer:
    """What the document concludes: the proposals of the playbook that were accepted."""
    accepted = [
        msgspec.convert(step.arguments, Proposal)
        for step in journal.steps[:steps]
        if step.tool == "propose_verdict" and journal.results[step.step].text.startswith("accepted: ")
    ]
    return _answer(bench, accepted)


def _answer(bench: Bench, verdicts: list[Proposal]) -> Answer:
    if not verdicts:
        return Answer()
    cause = verdicts[0].cause
    sane = cause in ("no_hang", "undetermined", "teardown_only", "too_short_timeout")
    answer = Answer(
        hang=None if cause == "undetermined" else not sane,
        culprits=sorted({rank for one in verdicts if one.culprits for rank in parse_ranks(one.culprits)}),
        cause=None if cause == "undetermined" else cause,
    )
    placed = next((one for one in verdicts if one.file is not None and one.line is not None), None)
    if placed is not None and placed.file is not None and placed.line is not None:
        answer.location = Site(placed.file, placed.line)
        answer.function = _function(bench, placed.file, placed.line)
    return answer


def _function(bench: Bench, file: str, line: int) -> str | None:
    path = bench.source_path(file)
    module = bench.program.module(path) if bench.program is not None and path is not None else None
    function = module.function_at(line) if module is not None else None
    return None if function is None else function.name


def _fix_is_told(bench: Bench, document: str) -> bool | None:
    diffs = [one.diff for verdict in bench.diagnosis.verdicts for one in verdict.remedies if one.diff]
    if not diffs:
        return None
    lines = {line.rstrip() for line in document.splitlines()}
    return all(line.rstrip() in lines for diff in diffs for line in diff.splitlines() if line[:1] in "+-")
