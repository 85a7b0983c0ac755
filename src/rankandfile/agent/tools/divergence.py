"""The earliest point at which ranks that should have done the same stopped doing it."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.model.diagnosis import Call
from rankandfile.model.ranks import parse_ranks
from rankandfile.reason.words import upper


def divergence(bench: Bench, _: Arguments) -> Iterator[Line]:
    """The earliest point at which the cohorts of a group stopped making the same calls, and what each did there:
    where it went wrong, which is often long before where it got stuck."""
    found = [verdict.divergence for verdict in bench.diagnosis.verdicts if verdict.divergence is not None]
    if not found:
        yield line("No group's ranks went different ways, as far as the dumps tell.")
    for divergence in found:
        number = "" if divergence.seq is None else f" at #{divergence.seq}"
        exact = "" if divergence.exact else "; it began earlier than the rings go back"
        place = f", {divergence.place}" if divergence.place else ""
        ids = [i for cohort in divergence.cohorts if cohort.call for i in cohort.call.evidence]
        yield line(
            f"The ranks of group {divergence.group} went different ways{number} ({divergence.kind}{exact}){place}.",
            *ids,
        )
        for cohort in divergence.cohorts:
            call = cohort.call
            words = "no call there" if call is None else call_words(call)
            yield line(f"{upper(who(parse_ranks(cohort.ranks)))}: {words}.", *(call.evidence if call else ()))


def call_words(call: Call) -> str:
    at = f" at {call.file}:{call.line}" if call.file else ""
    inside = f" in {call.function}" if call.function else ""
    number = f" #{call.seq}" if call.seq is not None else ""
    return f"{call.op}{number}{at}{inside}" + (f" ({call.detail})" if call.detail else "")


ORDER = 50
TOOL = Tool(divergence, Arguments)
