"""The reasoning is broken, one way at a time, and the check of claims has to notice it by the raw tables alone.

Unlike ready claims that are changed, what is broken here is a step of the way to them: who waits and whom for, the
number of a call, the side that a rank is on, the kind of a parting, how a process ended, where it stands, what it said.
A broken step that changes nothing in an answer says nothing untrue, and does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rankandfile.lab.sim.run import simulate
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Cohort, Diagnosis, Divergence, to_json
from rankandfile.model.ledger import NOT_SAID
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.pipeline import Options, run
from rankandfile.reason import diagnose
from rankandfile.reason.claims import of_divergence, of_tellings, said
from rankandfile.reason.ranks import standings
from rankandfile.reason.waits import in_words

pytestmark = pytest.mark.lab

JOBS = (
    "skip-nonfinite-ddp", "extra-adapter-tp", "cycle-on-devices", "early-stop-3d", "blocked-loader-fsdp", "killed-oom",
    "size-metrics", "raised-ddp",
)  # fmt: skip
WANTED = 50

Break = Callable[[Any], Any]
change = msgspec.structs.replace


def _other_ranks(claim: Any) -> Any:
    own = parse_ranks(claim.ranks)
    return change(claim, ranks=str(next(rank for rank in range(99) if rank not in own)))


def _one_more(claim: Any) -> Any:
    own = parse_ranks(claim.ranks)
    return change(claim, ranks=format_ranks([*own, next(rank for rank in range(99) if rank not in own)]))


def _number(by: int) -> Break:
    return lambda claim: claim if claim.seq is None else change(claim, seq=max(claim.seq + by, 0))


def _op(claim: Any) -> Any:
    return change(claim, op="barrier" if claim.op != "barrier" else "broadcast")


def _line(claim: Any) -> Any:
    return claim if claim.line is None else change(claim, line=claim.line + 1)


def _group(claim: Any) -> Any:
    return change(claim, group="no such group")


OF_CALLS: tuple[Break, ...] = (_other_ranks, _one_more, _number(-1), _number(1), _op, _line, _group)


def _way(by: Callable[[in_words.Way], dict[str, Any]]) -> Break:
    """What the waiting ranks' own records say that their call is."""
    return lambda original: lambda *given: [way._replace(**by(way)) for way in original(*given)]


def _other(ranks: tuple[int, ...]) -> tuple[int, ...]:
    return (next(rank for rank in range(99) if rank not in ranks),)


def _waits(broken: Break) -> Break:
    """The calls in which ranks wait."""
    return lambda original: lambda *given, **more: [broken(one) for one in original(*given, **more)]


def _awaited(broken: Break) -> Break:
    def wrapped(original: Any) -> Any:
        def made(*given: Any) -> Any:
            found = original(*given)
            return found if found is None else broken(found)

        return made

    return wrapped


def _swapped(original: Any) -> Any:
    """Who waits for whom, the other way round."""

    def made(facts: Any, call: Any, way: Any, group: str) -> Any:
        found = original(facts, call, way, group)
        return found if found is None else change(found, ranks=format_ranks(way.ranks))

    return made


def _fields(name: str, by: Callable[[Any], Any]) -> Break:
    def wrapped(original: Any) -> Any:
        return lambda *given: {**(found := original(*given)), name: by(found[name])}

    return wrapped


def _next(value: Any) -> Any:
    return None if value is None else value + 1


def _before(value: Any) -> Any:
    return None if value is None else max(value - 1, 0)


def _parting(by: Callable[[Divergence], Divergence]) -> Break:
    """What the ranks to blame did, of another parting than was found."""
    return lambda original: lambda parting, culprits, cause: original(by(parting), culprits, cause)


def _kind(one: str, other: str) -> Break:
    def by(parting: Divergence) -> Divergence:
        return change(parting, kind=other) if parting.kind == one else parting

    return _parting(by)


def _blamed(original: Any) -> Any:
    """The other side is named."""

    def made(parting: Divergence, culprits: tuple[int, ...], cause: str) -> Any:
        found = original(parting, culprits, cause)
        others = {rank for one in parting.cohorts for rank in parse_ranks(one.ranks)} - set(culprits)
        return [change(claim, ranks=format_ranks(others)) for claim in found] if others else found

    return made


def _sides(original: Any) -> Any:
    """Each cohort is said to have made the call of the next."""

    def made(parting: Divergence, cohort: Cohort) -> Any:
        place = next((i for i, one in enumerate(parting.cohorts) if one.ranks == cohort.ranks), None)
        if place is None or len(parting.cohorts) < 2:
            return original(parting, cohort)
        other = parting.cohorts[(place + 1) % len(parting.cohorts)]
        return original(parting, change(cohort, call=other.call, unknown=False))

    return made


def _told(broken: Break) -> Break:
    return lambda original: lambda *given: broken(original(*given))


WAYS: dict[str, tuple[Any, str, Break]] = {
    "others wait": (in_words, "ways_in", _way(lambda way: {"ranks": _other(way.ranks)})),
    "one more waits": (in_words, "ways_in", _way(lambda way: {"ranks": (*way.ranks, *_other(way.ranks))})),
    "waits in the call after": (in_words, "ways_in", _way(lambda way: {"seq": _next(way.seq)})),
    "waits in the call before": (in_words, "ways_in", _way(lambda way: {"seq": _before(way.seq)})),
    "waits in another operation": (in_words, "ways_in", _way(lambda way: {"op": "scatter"})),
    **{f"stands in call {i}": (standings, "in_calls", _waits(one)) for i, one in enumerate(OF_CALLS)},
    **{f"awaited {i}": (in_words, "_awaited", _awaited(one)) for i, one in enumerate(OF_CALLS[1:4])},
    "awaited by whom": (in_words, "_awaited", _swapped),
    "call after": (of_divergence, "_call", _fields("seq", _next)),
    "call before": (of_divergence, "_call", _fields("seq", _before)),
    "call elsewhere": (of_divergence, "_call", _fields("line", _next)),
    "call of another kind": (of_divergence, "_call", _fields("op", lambda _: "barrier")),
    "call of another group": (of_divergence, "_call", _fields("group", lambda _: "no such group")),
    "left out, not added": (said, "of_named", _kind("extra", "skipped")),
    "added, not left out": (said, "of_named", _kind("skipped", "extra")),
    "other, not left out": (said, "of_named", _kind("skipped", "substituted")),
    "the others did it": (said, "of_named", _blamed),
    "sides": (said, "of_cohort", _sides),
    "ended otherwise": (of_tellings, "ended", _told(lambda claim: change(claim, how="SIGTERM"))),
    "another ended": (of_tellings, "ended", _told(_other_ranks)),
    "stands a line further": (of_tellings, "stands", _told(_line)),
    "another stands": (of_tellings, "stands", _told(_other_ranks)),
    "moves": (of_tellings, "stands", _told(lambda claim: change(claim, moving=True))),
    "said otherwise": (
        of_tellings,
        "logged",
        _told(lambda claim: change(claim, what="no disk is left to write to")),
    ),
    "another said it": (of_tellings, "logged", _told(_other_ranks)),
}


def _unsaid(diagnosis: Diagnosis) -> set[str]:
    return {note.what for note in diagnosis.notes if note.where == NOT_SAID}


def _broken(case: Case, way: tuple[Any, str, Break]) -> Diagnosis:
    where, name, by = way
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, by(getattr(where, name)))
        return diagnose(case)


def test_a_broken_reasoning_is_noticed(tmp_path: Path) -> None:
    noticed, missed = [], []
    for job in JOBS:
        case = run([simulate(job, tmp_path / job) / "evidence"], Options(jobs=1)).case
        whole = diagnose(case)
        for name, way in WAYS.items():
            answer = _broken(case, way)
            if to_json(answer) == to_json(whole):
                continue
            (noticed if _unsaid(answer) - _unsaid(whole) else missed).append(f"{job}: {name}")
    assert len(noticed) + len(missed) >= WANTED
    assert len(missed) * WANTED <= 5 * (len(noticed) + len(missed)), missed
