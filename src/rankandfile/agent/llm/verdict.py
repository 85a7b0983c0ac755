"""A model's verdict, held against the case and against what the rules have concluded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import ranks_of
from rankandfile.agent.journal import Journal
from rankandfile.agent.result import who
from rankandfile.agent.tool import ToolError
from rankandfile.model.diagnosis import Verdict

from .account import ModelVerdict

#: Claims that say why others wait for a rank, and the argument that names it.
_CARRIES = {"waits_for": "other", "no_call_after": "ranks", "ended": "ranks"}


def held(bench: Bench, journal: Journal, proposal: dict[str, Any], tests: Sequence[str]) -> ModelVerdict:
    """Whether it may be shown, and as what. The verdict of the rules is delivered in any case."""
    asked = {key: value for key, value in proposal.items() if value is not None}
    step, why_not = journal.next, []
    try:
        _, lines = journal.ask("propose_verdict", **asked)
        accepted = lines[0].text.startswith("accepted")
        why_not = [] if accepted else [one.text.removeprefix("- ") for one in lines[1:-1]] or ["not accepted"]
        culprits = ranks_of(proposal["culprits"])
    except ToolError as error:
        journal.refuse("propose_verdict", asked, str(error))
        culprits, why_not = [], [str(error)]
    same = next((v for v in bench.diagnosis.verdicts if _same(v, proposal["cause"], culprits)), None)
    if same is None and not why_not:
        why_not += _too_weak(bench, journal, culprits, tests)
    place = (proposal["file"], proposal["line"])
    moved = same is not None and place[0] is not None and place != _place(same)
    return ModelVerdict(
        accepted=not why_not,
        stance="disagrees" if same is None else "refines" if moved else "confirms",
        step=step,
        why_not=why_not,
        **proposal,
    )


def _same(verdict: Verdict, cause: str, culprits: list[int]) -> bool:
    return verdict.cause == cause and sorted(c.rank for c in verdict.culprits) == culprits


def _place(verdict: Verdict) -> tuple[str | None, int | None]:
    where = verdict.location
    return (None, None) if where is None else (where.file, where.line)


def _too_weak(bench: Bench, journal: Journal, culprits: list[int], tests: Sequence[str]) -> Iterator[str]:
    """Against what is established, only what was tested and holds may stand, and for each of the ranks it names."""
    if not any(verdict.confidence == "established" for verdict in bench.diagnosis.verdicts):
        return
    if not culprits:
        yield "the rules have established a verdict: name what refutes it in a finding"
        return
    carried: set[int] = set()
    for step in journal.steps:
        if step.step in tests and step.tool == "test_hypothesis" and step.step in journal.results:
            name = _CARRIES.get(str(step.arguments.get("kind")))
            if name and journal.results[step.step].text.startswith("holds:"):
                carried |= set(ranks_of(str(step.arguments[name])))
    if missing := sorted(set(culprits) - carried):
        yield (
            f"it differs from an established verdict, and no step in `tests` holds that says why others wait for "
            f"{who(missing)}"
        )
