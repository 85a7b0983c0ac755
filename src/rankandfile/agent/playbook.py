"""The built-in investigation: the tools in the order in which a good engineer would use them, the same every time.

symptom, rank-aligned progress, cohorts, earliest mismatch, bridge to the code, why it can differ, smallest fix, probes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rankandfile.model.diagnosis import SURE, Verdict
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.reason import lookup as look

from .bench import Bench
from .document import Document, Section
from .evidence_ranks import ranks_of_evidence
from .journal import Journal
from .result import Line, who
from .tool import ToolError
from .tools.remedies import Kind, advised

_MOST_LINES = 6
_AROUND = 6
_MOST_VERDICTS = 3


@dataclass(frozen=True)
class Investigation:
    document: str
    journal: Journal


@dataclass(frozen=True)
class Draft:
    """What the playbook finds, open for more sections."""

    bench: Bench
    journal: Journal
    document: Document = field(default_factory=Document)

    def close(self) -> Investigation:
        self.document.close(self.bench, self.journal)
        return Investigation(self.document.markdown(), self.journal)

    def ask(self, tool: str, **arguments: object) -> tuple[str, tuple[Line, ...]]:
        """What cannot be asked of this case (no source, no repository) is left out."""
        try:
            return self.journal.ask(tool, **{k: v for k, v in arguments.items() if v is not None})
        except ToolError:
            return "", ()

    def tell(self, section: Section, tool: str, most: int = _MOST_LINES, **arguments: object) -> None:
        """The first lines of an answer as sentences."""
        step, lines = self.ask(tool, **arguments)
        for one in [one for one in lines if one.ids][:most]:
            section.say(one.text, (*one.ids, step))


def investigate(bench: Bench) -> Investigation:
    return draft(bench).close()


def draft(bench: Bench) -> Draft:
    play = Draft(bench, Journal(bench))
    verdicts = bench.diagnosis.verdicts[:_MOST_VERDICTS]
    short = play.document.section("In short")
    saw = play.document.section("What we saw")
    play.tell(saw, "overview")
    play.tell(saw, "progress")
    means = play.document.section("What it means")
    play.tell(means, "cohorts")
    play.tell(means, "divergence")
    play.tell(means, "waits")
    for verdict in verdicts:
        _stands(play, means, verdict)
    code = play.document.section("The code")
    for verdict in verdicts:
        _code(play, code, verdict)
    out = play.document.section("What we ruled out")
    for verdict in verdicts:
        _tests(play, out, verdict)
    _conclude(play, short, verdicts)
    _remedies(play)
    return play


def _stands(play: Draft, section: Section, verdict: Verdict) -> None:
    """Where the blamed and one of those who wait for them stand, and why the one is blamed and the other is not."""
    culprits = [culprit.rank for culprit in verdict.culprits]
    victims = parse_ranks(verdict.victims)
    shown = sorted({*culprits[:3], *victims[:2]})
    if shown:
        play.tell(section, "stacks", ranks=format_ranks(shown))
    for rank in (*culprits[:1], *victims[:1]):
        play.tell(section, "explain", rank=rank)
    if culprits:
        play.tell(section, "logs", 3, ranks=format_ranks(culprits[:8]), role="origin")


def _code(play: Draft, section: Section, verdict: Verdict) -> None:
    where = verdict.location
    if where is None or where.line is None:
        return
    step, lines = play.ask(
        "source", file=where.file, first=max(1, where.line - _AROUND), last=where.line + _AROUND
    )
    path = play.bench.source_path(where.file)
    if not lines or path is None:
        return
    at = f"{path}:{where.line}"
    words = f"The ranks went different ways at {at}" if verdict.divergence else f"The place is {at}"
    condition = f", by `{where.condition}`" if where.condition else ""
    section.say(f"{words}{condition}.", (*verdict.evidence[:2], at, play.ask("hypotheses")[0]))
    section.quote(path, play.bench.source_lines(path) or [], where.line - _AROUND, where.line + _AROUND)
    play.ask("control_flow", file=path, line=where.line)
    if where.condition:
        step, lines = play.ask("why_differs", file=path, line=where.line)
        for one in lines[:2]:
            section.say(one.text, (*verdict.evidence[:2], at, step))
    step, lines = play.ask("git_blame", file=path, first=where.line)
    for one in lines[:1]:
        section.say(f"The line was changed last so: `{one.text.replace('`', ' ')}`.", (at, step))


def _tests(play: Draft, section: Section, verdict: Verdict) -> None:
    """Questions that could have refuted the verdict, and what came of them."""
    culprits = [culprit.rank for culprit in verdict.culprits]
    ranks, victims = format_ranks(culprits), verdict.victims
    if culprits and victims:
        step, lines = play.ask("test_hypothesis", kind="waits_for", ranks=victims, other=ranks)
        if lines and lines[0].answer == "holds":
            section.say(
                f"That {who(parse_ranks(victims))} went wrong is ruled out: they wait for {who(culprits)}, directly or "
                "over others.",
                (*lines[0].ids, *verdict.evidence[:2], play.ask("hypotheses")[0], step),
            )
    if culprits:
        _ends(play, section, ranks)
    _failures(play, section, verdict)
    step, lines = play.ask("hypotheses")
    for other in verdict.alternatives:
        decided = f" What would decide it: {other.decided_by}." if other.decided_by else ""
        section.say(
            f"Not ruled out is {other.cause} ({SURE[other.confidence]}): {other.sentence}{decided}",
            (*verdict.evidence[:2], step),
        )


def _ends(play: Draft, section: Section, ranks: str) -> None:
    step, lines = play.ask("test_hypothesis", kind="ended", ranks=ranks)
    if lines and lines[0].answer == "refuted" and lines[0].ids:
        section.say(
            f"That the process of {who(parse_ranks(ranks))} had ended is ruled out: it was noted last as running.",
            (*lines[0].ids, step),
        )


def _failures(play: Draft, section: Section, verdict: Verdict) -> None:
    """Whose timer ran out first is no clue; a failure of a rank's own would be one."""
    step, lines = play.ask("logs", role="origin")
    if lines and not lines[0].ids and play.bench.case.events.height:
        section.say(
            "No recognised line of a log tells of a failure of a rank's own.", (*verdict.evidence[:2], step)
        )
    step, lines = play.ask("logs", role="messenger")
    if lines and lines[0].ids:
        section.say(
            "Whoever logged a timeout only waited: that line says whose timer ran out, and nothing of the cause.",
            (*lines[0].ids, step),
        )


def _conclude(play: Draft, short: Section, verdicts: list[Verdict]) -> None:
    step, _ = play.ask("hypotheses")
    section = play.document.section("The verdict")
    for verdict in verdicts:
        short.say(verdict.sentence, (*verdict.evidence, step))
        where = verdict.location
        proposal, lines = play.ask(
            "propose_verdict",
            cause=verdict.cause,
            culprits=format_ranks(culprit.rank for culprit in verdict.culprits),
            confidence=verdict.confidence,
            file=where.file if where else None,
            line=where.line if where else None,
            condition=where.condition if where else None,
            evidence=_witnesses(play.bench, verdict),
        )
        for one in lines[:_MOST_LINES]:
            section.say(one.text.removeprefix("- "), (*(one.ids or tuple(verdict.evidence[:2])), proposal))
        for missing in verdict.missing_evidence:
            section.say(f"Missing: {missing.what}. {missing.how}", (*verdict.evidence[:2], step))


def _witnesses(bench: Bench, verdict: Verdict) -> list[str]:
    """What the verdict cites; and of a culprit that none of it is about, its last call."""
    ids = list(verdict.evidence)
    about = {rank for one in ids for rank in ranks_of_evidence(bench, one)}
    for culprit in verdict.culprits:
        last = look.last_call(bench.facts, culprit.rank) if culprit.rank not in about else None
        if last is not None:
            ids.append(look.evidence_of(last))
            about |= ranks_of_evidence(bench, ids[-1])
    return ids


def _remedies(play: Draft) -> None:
    step, lines = play.ask("remedies")
    sections: dict[Kind, Section] = {
        "Fix": play.document.section("The fix"),
        "Not": play.document.section("What not to do"),
        "Probe": play.document.section("Probes"),
    }
    at = 0
    for advice in advised(play.bench.diagnosis.verdicts):
        if at >= len(lines):
            break
        one, section = lines[at], sections[advice.kind]
        section.say(one.text.removeprefix(f"{advice.kind}: "), (*one.ids, step))
        if advice.diff is not None:
            section.diff(advice.diff)
        at += advice.height
