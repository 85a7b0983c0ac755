"""What the rules conclude: verdicts and the alternatives that remain, each with what would decide."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.ranks import parse_ranks


def hypotheses(bench: Bench, _: Arguments) -> Iterator[Line]:
    """What the rules conclude from the evidence: each verdict with its confidence, and the alternatives that remain
    with what would decide. Test them before you believe them."""
    for number, verdict in enumerate(bench.diagnosis.verdicts, 1):
        culprits = [culprit.rank for culprit in verdict.culprits]
        # In one clause: of whom the cause is said is told beside it, whatever the sentence names first.
        blamed = f"its culprit {who(culprits)}" if culprits else "no culprit"
        yield line(
            f"Verdict {number}: {verdict.cause} ({verdict.confidence}), {blamed}: {verdict.sentence}",
            *verdict.evidence,
        )
        yield from _where(verdict)
        for other in verdict.alternatives:
            about = f" of {who(parse_ranks(other.culprits))}" if other.culprits else ""
            decided = f" Decided by {other.decided_by}." if other.decided_by else ""
            yield line(
                f"Or {other.cause}{about} ({other.confidence}): {other.sentence}{decided}", *verdict.evidence
            )
        for missing in verdict.missing_evidence:
            yield line(f"Missing: {missing.what}. {missing.how}")


def _where(verdict: Verdict) -> Iterator[Line]:
    where = verdict.location
    if where is None:
        return
    at = where.file if where.line is None else f"{where.file}:{where.line}"
    condition = f" by `{where.condition}`" if where.condition else ""
    yield line(f"Place: {at}{condition}", *verdict.evidence)


ORDER = 180
TOOL = Tool(hypotheses, Arguments)
