"""A model's verdict, held against the case and against what the rules have concluded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import ranks_of
from rankandfile.agent.journal import Journal
from rankandfile.agent.result import who
from rankandfile.agent.tool import ToolError
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Verdict

from .account import ModelVerdict

#: Claims that say why others wait for a rank, and the argument that names it.
_WAITED_FOR = {"waits_for": "other", "no_call_after": "ranks", "ended": "ranks"}
#: Where the rules are not sure of anybody, what a rank did or said may do.
_DID = {"stands_in": "ranks", "log_says": "ranks"}
#: That a process is gone is said by its end, or by its own last words.
_GONE = {"ended": "ranks", "log_says": "ranks"}


def held(bench: Bench, journal: Journal, proposal: dict[str, Any], tests: Sequence[str]) -> ModelVerdict:
    """Whether it may be shown, and as what. The verdict of the rules is delivered in any case."""
    asked = {key: value for key, value in proposal.items() if value is not None}
    step, why_not = journal.next, []
    try:
        _, lines = journal.ask("propose_verdict", **asked)
        accepted = lines[0].answer == "accepted"
        why_not = [] if accepted else [one.text.removeprefix("- ") for one in lines[1:-1]] or ["not accepted"]
        culprits = ranks_of(proposal["culprits"])
    except ToolError as error:
        journal.refuse("propose_verdict", asked, str(error))
        culprits, why_not = [], [str(error)]
    if not why_not and proposal["file"] is not None and bench.source_path(proposal["file"]) is None:
        why_not.append("a place is one of the source, and there is none at hand with this file: leave it out")
    same = next((v for v in bench.diagnosis.verdicts if _same(v, proposal["cause"], culprits)), None)
    if same is None and not why_not:
        why_not += _too_weak(bench, journal, proposal["cause"], culprits, tests)
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


def _too_weak(
    bench: Bench, journal: Journal, cause: str, culprits: list[int], tests: Sequence[str]
) -> Iterator[str]:
    """To differ takes claims that were tested and hold, about each of the ranks that are named."""
    sure = [v for v in bench.diagnosis.verdicts if v.culprits and v.confidence != "hypothesis"]
    if not culprits:
        if sure:
            yield f"the rules have a verdict that is {sure[0].confidence}: what speaks against it is a finding"
        return
    gone = cause in CAUSES and CAUSES[cause].family == "process"
    carriers = _GONE if gone else _WAITED_FOR if sure else {**_WAITED_FOR, **_DID}
    carried: set[int] = set()
    for step in journal.steps:
        held = step.step in journal.results and journal.results[step.step].answer == "holds"
        name = carriers.get(str(step.arguments.get("kind")))
        if step.step in tests and step.tool == "test_hypothesis" and held and name:
            carried |= set(ranks_of(str(step.arguments[name])))
    if missing := sorted(set(culprits) - carried):
        yield (
            f"it differs from what the rules conclude, and of {who(missing)} no step in `tests` holds that would carry "
            f"it ({', '.join(carriers)})"
        )
