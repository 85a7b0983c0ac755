"""The reasoning is broken, one way at a time, and checks that share nothing with it have to notice.

Unlike ready claims that are changed, what is broken here is a step of the way to them: who waits and whom for, the
number of a call, the side that a rank is on, the kind of a parting, how a process ended, where it stands, what it said.
A broken step that changes nothing in an answer says nothing untrue, and does not count. What is no claim (a headline, a
reason, the place of a condition) is noticed by its words, held against tables, log of calls and sources.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from rich.console import Console
from support.opened_sets import archives, name_of, unpacked
from support.places import EXAMPLES
from support.spoken.code import Sources
from support.spoken.held import untrue
from support.spoken.outputs import said, told_of_code
from support.spoken.witnesses import of_log, of_tables

from rankandfile import pipeline
from rankandfile.agent.bench import Bench
from rankandfile.lab.sim.run import simulate
from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Cohort, Diagnosis, Divergence, to_json
from rankandfile.model.ledger import NOT_SAID
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.pipeline import Options
from rankandfile.reason import conclusion, lookup
from rankandfile.reason import facts as facts_of
from rankandfile.reason.claims import of_divergence, of_tellings
from rankandfile.reason.claims import said as may_be
from rankandfile.reason.divergence import find, in_groups
from rankandfile.reason.ranks import standings
from rankandfile.reason.waits import in_words
from rankandfile.render import headline
from rankandfile.render.card import card
from rankandfile.source import findings as source_findings
from rankandfile.source.dependence import reason as why
from rankandfile.source.lines import sentence as in_code
from rankandfile.source.lines.found_line import FoundLine

pytestmark = pytest.mark.lab

card_head = import_module("rankandfile.render.card.head")
"""The card calls its first lines as its module is called: imported by name it is a function."""

#: Real ones with their sources: of this folder, and of a round of programs that was opened.
RECORDED = ("early-stop", "tp-dp-cascade")
OPENED = ("a05-plan-shelf", "b07-preempt-notice", "b16-shard-norms")
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
    "left out, not added": (may_be, "of_named", _kind("extra", "skipped")),
    "added, not left out": (may_be, "of_named", _kind("skipped", "extra")),
    "other, not left out": (may_be, "of_named", _kind("skipped", "substituted")),
    "the others did it": (may_be, "of_named", _blamed),
    "sides": (may_be, "of_cohort", _sides),
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


#: Steps that lead to a divergence, to words for a call, to what the source says, and to a headline.
def _found(**by: Callable[[Any], Any]) -> Break:
    """Fields of what is found, each made from the whole of it; None stays None."""

    def wrapped(original: Any) -> Any:
        def made(*given: Any, **more: Any) -> Any:
            found = original(*given, **more)
            return (
                found if found is None else change(found, **{name: make(found) for name, make in by.items()})
            )

        return made

    return wrapped


def _words(pattern: str, by: Callable[[re.Match[str]], str]) -> Break:
    """Words that a step makes, changed where they match."""

    def wrapped(original: Any) -> Any:
        def made(*given: Any, **more: Any) -> Any:
            words = original(*given, **more)
            return re.sub(pattern, by, words) if isinstance(words, str) else words

        return made

    return wrapped


def _raised(match: re.Match[str]) -> str:
    return str(int(match[0]) + 1)


def _of_rank(other: Callable[[int], int]) -> Break:
    """The step is asked for another rank."""
    return lambda original: lambda facts, rank, *more: original(facts, other(rank), *more)


def _took(broken: Break) -> Break:
    return lambda original: lambda *given: [(word, broken(claim)) for word, claim in original(*given)]


def _divergence(by: Callable[[Any], dict[str, Any]]) -> Break:
    def wrapped(original: Any) -> Any:
        def made(*given: Any) -> Any:
            found = original(*given)
            return found if found is None else change(found, **by(found))

        return made

    return wrapped


def _shift(original: Any) -> Any:
    """What is known of each rank is said of the next."""

    def made(*given: Any) -> Any:
        found = original(*given)
        moved = {
            name: {rank + 1: one for rank, one in of.items()}
            for name in ("ends", "raised")
            if isinstance(of := getattr(found, name), dict) and of
        }
        return change(found, **moved)

    return made


_SKIPPED = "skipped a collective"
_BECAUSE = "it depends on this rank's clock"
_NUMBER = r"(?<=\.py:)\d+"

WAYS |= {
    "the others parted": (find, "in_groups", _divergence(lambda p: {"culprits": p.normal, "normal": p.culprits})),
    "parted a call later": (find, "in_groups", _divergence(lambda p: {"slot": p.slot + 1})),
    "parted a call earlier": (find, "in_groups", _divergence(lambda p: {"slot": max(p.slot - 1, 0)})),
    "parted otherwise": (
        find, "in_groups", _divergence(lambda p: {"kind": {"skipped": "extra", "extra": "skipped"}.get(p.kind, p.kind)})
    ),
    "came for expected": (find, "in_groups", _divergence(lambda p: {"came": p.expected, "expected": p.came})),
    "one more parted": (find, "in_groups", _divergence(lambda p: {"culprits": (*p.culprits, *p.normal[:1])})),
    "counted one more": (in_groups, "place_of", _words(r"\d+(?=st|nd|rd|th)", _raised)),
    "a call's number": (lookup, "as_call", _found(seq=lambda c: _next(c.seq))),
    "a call's line": (lookup, "as_call", _found(line=lambda c: _next(c.line))),
    "a call's operation": (lookup, "as_call", _found(op=lambda _: "scatter")),
    "a group of more": (lookup, "group_words", _words(r"\d+(?=\]$)", lambda m: str(int(m[0]) + 90))),
    "another group": (lookup, "group_words", _words(r"^\S+", lambda _: "mesh_zz")),
    "words for another call": (lookup, "call_words", _words(r"^\w+", lambda _: "scatter")),
    "words for a call elsewhere": (lookup, "call_words", _words(_NUMBER, _raised)),
    "another's record": (lookup, "call_at", _of_rank(lambda rank: rank ^ 1)),
    "the record before": (lookup, "last_call", _of_rank(lambda rank: rank ^ 1)),
    "stands where another does": (standings, "_of_stack", _of_rank(lambda rank: rank ^ 1)),
    "waits where another does": (standings, "_of_calls", _of_rank(lambda rank: rank ^ 1)),
    "ended as another": (standings, "_ended", _of_rank(lambda rank: rank ^ 1)),
    "accounts of the next rank": (facts_of, "read_accounts", _shift),
    "more calls": (conclusion, "_job", _found(calls=lambda job: job.calls + 1)),
    "took the other way": (in_code, "took_branch", _took(lambda claim: change(claim, truth=not claim.truth))),
    "another took it": (in_code, "took_branch", _took(_other_ranks)),
    "shown by another line": (in_code, "took_branch", _took(lambda one: change(one, shown_by=one.shown_by + 400))),
    "condition elsewhere": (FoundLine, "at", lambda at: property(_words(_NUMBER, _raised)(at.fget))),
    "another condition": (in_code, "_short", _told(lambda _: "if weather.is_fine():")),
    "another reason": (source_findings, "because", _told(lambda words: words and _BECAUSE)),
    "reason of another line": (why, "_sentence", _words(_NUMBER, lambda m: str(int(m[0]) + 7))),
    "location a line further": (
        source_findings,
        "_location",
        _found(condition_line=lambda at: _next(at.condition_line), line=lambda at: _next(at.line)),
    ),
    "location in another function": (source_findings, "_location", _found(function=lambda _: "elsewhere")),
    "location by another test": (source_findings, "_location", _found(condition=lambda _: "if fine():")),
    "headline of others": (headline, "culprit_ranks", _told(lambda of: format_ranks(r ^ 1 for r in parse_ranks(of)))),
    "headline: an end": (headline, "_did", _told(lambda _: "killed")),
    "headline: skipped": (headline, "_did", _told(lambda did: _SKIPPED if "not make" in did else did)),
    "headline: elsewhere": (headline, "place_text", _words(_NUMBER, lambda m: str(int(m[0]) + 300))),
    "size of the job": (card_head, "job_size", _words(r"\d+(?= calls?$)", _raised)),
}  # fmt: skip


def _unsaid(diagnosis: Diagnosis) -> set[str]:
    return {note.what for note in diagnosis.notes if note.where == NOT_SAID}


class Asked(NamedTuple):
    """An incident, and what its answer is when nothing is broken."""

    incident: Path
    case: Case
    options: Options

    def answered(self) -> Bench:
        found = pipeline.diagnose(self.case, self.options)
        return Bench(found.facts, found.diagnosis, found.tree)

    def untrue(self, bench: Bench) -> set[str]:
        """Claims that were not said, and what of the words does not hold."""
        witnesses = [of_tables(self.incident, self.case)]
        if (self.incident / "calls.jsonl").exists():
            witnesses.append(of_log(self.incident, self.case))
        told = said(bench, ("JSON", "card"))
        found = {fault for _, one in told for witness in witnesses for fault in untrue(one, witness)}
        code = told_of_code(bench, Sources.below(*self.options.sources)) if self.options.sources else ()
        return {*found, *code, *_unsaid(bench.diagnosis)}


def _answer(bench: Bench) -> str:
    file = StringIO()
    Console(file=file, width=4000, color_system=None, legacy_windows=False).print(card(bench.diagnosis))
    return f"{to_json(bench.diagnosis).decode()}{file.getvalue()}"


def _asked(incident: Path) -> Asked:
    src = incident / "src"
    options = Options(jobs=1, sources=(src,) if src.exists() else ())
    return Asked(incident, pipeline.load([incident / "evidence"], options), options)


def test_a_broken_reasoning_is_noticed(tmp_path: Path) -> None:
    """Each way of breaking it is tried on incident after incident until an untrue answer is noticed."""
    opened = unpacked(
        next(one for one in archives("round") if name_of(one) == "round-1"), tmp_path / "opened"
    )
    incidents = [EXAMPLES / name for name in RECORDED] + [opened / name for name in OPENED]
    incidents += [simulate(job, tmp_path / job) for job in JOBS]
    noticed: set[str] = set()
    changed: dict[str, list[str]] = {}
    for incident in incidents:
        asked = _asked(incident)
        whole = asked.answered()
        answer, known = _answer(whole), asked.untrue(whole)
        for name, (where, step, by) in WAYS.items():
            if name in noticed:
                continue
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(where, step, by(getattr(where, step)))
                broken = asked.answered()
                if _answer(broken) == answer:
                    continue
                changed.setdefault(name, []).append(incident.name)
                if asked.untrue(broken) - known:
                    noticed.add(name)
    missed = {name: changed[name] for name in changed.keys() - noticed}
    print(
        f"{len(WAYS)} ways, {len(changed)} of them change an answer, {len(noticed)} noticed; not: {sorted(missed)}"
    )
    assert len(changed) >= WANTED, WAYS.keys() - changed.keys()
    assert len(missed) * WANTED <= 5 * len(changed), sorted(missed)
