"""Markdown: the verdicts for a ticket or a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.render.headline import headline, sure
from rankandfile.render.long_lists import spoken
from rankandfile.render.markdown import cell, code, fenced, text
from rankandfile.render.places import InTree, nowhere
from rankandfile.render.words import came_to, cited, culprit_ranks, flagged_text, job_size, place_text, short

MAX_EVIDENCE = 12
MAX_NOTES = 10
MAX_COHORTS = 8
MAX_CULPRITS = 8


def write(diagnosis: Diagnosis, _in_tree: InTree = nowhere) -> str:
    parts: list[str] = []
    for number, verdict in enumerate(diagnosis.verdicts):
        if number:
            parts += ["", "---", ""]
        parts += list(_verdict(verdict, diagnosis))
    if diagnosis.notes:
        parts += ["", "### What could not be read", ""]
        parts += [f"- {code(str(note))}" for note in diagnosis.notes[:MAX_NOTES]]
        if len(diagnosis.notes) > MAX_NOTES:
            parts.append(f"- and {len(diagnosis.notes) - MAX_NOTES} more")
    return "\n".join(parts) + "\n"


def _verdict(verdict: Verdict, diagnosis: Diagnosis) -> Iterator[str]:
    yield f"## {text(headline(verdict, diagnosis.job.world_size))} ({sure(verdict)})"
    yield f"\n{text(spoken(verdict.sentence, diagnosis.job.world_size))}\n"
    yield f"| | |\n| --- | --- |\n| job | {job_size(diagnosis)} |"
    if verdict.named:
        yield f"| {'culprits' if verdict.culprits else 'suspects'} | {cell(short(culprit_ranks(verdict)))} |"
    if verdict.victims:
        yield f"| {'victims' if verdict.culprits else 'waiting'} | {cell(short(verdict.victims))} |"
    where = verdict.location
    if where is not None:
        inside = f" in {cell(where.function)}" if where.function else ""
        yield f"| where | {cell(place_text(where.file, where.line))}{inside} |"
        if where.condition:
            yield f"| condition | {cell(where.condition)} |"
        if where.why_it_can_differ:
            yield f"| why | {text(where.why_it_can_differ, in_table=True)} |"
        if where.flagged_before:
            yield f"| lint | {text(flagged_text(where.flagged_before), in_table=True)} |"
    divergence = verdict.divergence
    if divergence is not None:
        number = "" if divergence.seq is None else f" #{divergence.seq}"
        yield f"| calls | {cell(f'group {divergence.group}{number}')}{_tail(divergence.place)} |"
        yield "\n| ranks | call |\n| --- | --- |"
        for cohort in divergence.cohorts[:MAX_COHORTS]:
            yield f"| {cell(short(cohort.ranks))} | {cell(came_to(verdict, cohort))} |"
        if len(divergence.cohorts) > MAX_COHORTS:
            yield f"| | and {len(divergence.cohorts) - MAX_COHORTS} more cohorts |"
    yield from _section(
        "What the culprits did" if verdict.culprits else "What the suspects did",
        (f"rank {one.rank}: {code(one.doing)}" for one in verdict.named[:MAX_CULPRITS] if one.doing),
    )
    for excerpt in verdict.excerpts:
        marks = [f"{'>' if line.mark else ' '} {line.number:>5}  {line.text}" for line in excerpt.lines]
        yield f"\n### {text(excerpt.file)}\n\n{fenced(marks)}"
    yield from _section(
        "What to do", (f"**{text(one.title)}**: {text(one.text)}" for one in verdict.remedies)
    )
    for remedy in verdict.remedies:
        if remedy.diff:
            yield f"\n{fenced(remedy.diff.splitlines(), 'diff')}"
    yield from _section("What not to do", (text(line) for line in verdict.anti_advice))
    yield from _section(
        "What would confirm it", (f"**{text(one.title)}**: {text(one.text)}" for one in verdict.probes)
    )
    yield from _section(
        "What else it may be", (f"{text(one.cause)}: {text(one.sentence)}" for one in verdict.alternatives)
    )
    yield from _section(
        "What is missing", (f"{text(one.what)}: {text(one.how)}" for one in verdict.missing_evidence)
    )
    yield from _proof(verdict, diagnosis)


def _tail(place: str | None) -> str:
    return f", {text(place, in_table=True)}" if place else ""


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield f"\n### {title}\n"
        yield from (f"- {line}" for line in listed)


def _proof(verdict: Verdict, diagnosis: Diagnosis) -> Iterator[str]:
    facts = cited(diagnosis, verdict)
    yield from _section(
        "Proof",
        (
            f"{code(one.id)} {code(one.source)}, {text(one.where)}: {code(one.quote)}"
            for one in facts[:MAX_EVIDENCE]
        ),
    )
    if len(facts) > MAX_EVIDENCE:
        yield f"- and {len(facts) - MAX_EVIDENCE} more"
