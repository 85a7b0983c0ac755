"""Where a verdict comes from: every source adds findings, and one table says which of them are believed.

What is believed here becomes the verdict (`believed`). What the source code adds comes second, as it needs a verdict
to look at (`with_code`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Divergence
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import format_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.causes import finders
from rankandfile.reason.claims.holds import holds
from rankandfile.reason.claims.of_divergence import of_named
from rankandfile.reason.claims.of_tellings import told_of
from rankandfile.reason.claims.raw import Raw
from rankandfile.reason.claims.said import NOT_SHOWN, Said, may_be_said
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import Question
from rankandfile.reason.ranks.from_logs.over import BROKE_OFF as IT_BROKE_OFF
from rankandfile.reason.ranks.from_logs.over import anybody_waited, over_at_once
from rankandfile.reason.waits.from_logs.findings import watchdogs_together
from rankandfile.reason.waits.from_stacks.findings import by_stacks
from rankandfile.reason.waits.graph import NO_WAIT
from rankandfile.reason.waits.patience import Patience, patience

from .also_read import with_what_else_was_read
from .believed import Believed
from .calls_that_wait import calls_that_wait, of_whole_job
from .finding import Finding
from .from_logs.alone_in_trouble import with_who_met_trouble
from .from_logs.another_start import with_another_start
from .from_logs.logged_divergence import with_own_words
from .from_logs.own_place import with_own_place
from .named_by_checks import checked
from .nothing_waits import ended_well, nothing_waits
from .other_programs import fit
from .other_reductions import other_reductions
from .ras_agrees import said_by_ras
from .silent_disagreement import beside_a_wait, silent_disagreements
from .standstill_proof import MOST_ASKED, hangs_or_not

Findings: TypeAlias = Mapping[str, tuple[Finding, ...]]
"""By the source that they are of, the best first."""

BROKE_OFF = "the job broke off"
CALLS_THAT_WAIT = "calls that wait"
WITHOUT_CALLS = "what stacks, logs and exits alone say"
WATCHDOGS = "the watchdogs' lines of all ranks together"
STACKS = "where the stacks of all ranks stand"
CHECKS = "torch's own checks"
SINGLE_LINES = "single lines of logs"
NOTHING_WAITS = "nothing waits"

#: What each source finds, whatever the others say.
SOURCES: dict[str, Callable[[Facts], list[Finding]]] = {
    BROKE_OFF: lambda facts: _asked("ended job", facts),
    CALLS_THAT_WAIT: calls_that_wait,
    WITHOUT_CALLS: lambda facts: _asked("job", facts),
    WATCHDOGS: watchdogs_together,
    STACKS: by_stacks,
    CHECKS: lambda facts: [_over(facts, finding) for finding in _of_whole_job(facts, checked(facts))],
    SINGLE_LINES: lambda facts: (
        [] if facts.call_table.calls.height or ended_well(facts) else _asked("logs", facts)
    ),
    NOTHING_WAITS: lambda facts: [
        nothing_waits(facts),
        *silent_disagreements(facts),
        *other_reductions(facts),
    ],
}


class Precedence(NamedTuple):
    source: str
    only: Callable[[Finding], bool] | None = None
    """Which of its findings are believed; None: all."""
    several: bool = False
    """Each of them becomes a verdict; else the first alone."""
    yields_to: tuple[str, ...] = ()
    """Sources that are believed instead where these findings leave open who it was, and one of those is sure of it."""


def _hangs(finding: Finding) -> bool:
    return bool(finding.hang)


def _yields(row: Precedence, believed: list[Finding], found: Findings) -> bool:
    if not row.yields_to or any(_surely_names(f) or _settles(f) for f in believed):
        return False
    return any(_surely_names(f) for source in row.yields_to for f in found[source])


def _settles(finding: Finding) -> bool:
    """What went wrong, where it does not have to be somebody's fault."""
    return finding.cause != "undetermined" and finding.confidence != "hypothesis"


def _is_of_a_moment(finding: Finding) -> bool:
    return finding.ordinary


def _says_what(finding: Finding) -> bool:
    return bool(finding.culprits) or finding.cause != "undetermined"


def _names_ranks(finding: Finding) -> bool:
    return bool(finding.culprits)


def _surely_names(finding: Finding) -> bool:
    return bool(finding.culprits) and finding.confidence != "hypothesis"


def _asked_differently(finding: Finding) -> bool:
    """A log of calls shows who asked for something else: more than that all wait in one call."""
    return bool(finding.culprits) and CAUSES[finding.cause].family == "arguments"


#: The first row with a finding that is believed gives the verdicts.
PRECEDENCE = (
    Precedence(BROKE_OFF),
    Precedence(CALLS_THAT_WAIT, only=_hangs, several=True, yields_to=(WATCHDOGS, STACKS)),
    Precedence(WITHOUT_CALLS),
    Precedence(WATCHDOGS, only=_names_ranks, several=True, yields_to=(STACKS,)),
    Precedence(CHECKS),
    Precedence(CALLS_THAT_WAIT, only=_is_of_a_moment, several=True, yields_to=(STACKS,)),
    Precedence(STACKS, only=_says_what),
    Precedence(CALLS_THAT_WAIT, only=_names_ranks, several=True),
    Precedence(SINGLE_LINES, only=_surely_names),
    Precedence(SINGLE_LINES, only=_asked_differently),
    Precedence(WATCHDOGS),
    Precedence(STACKS),
    Precedence(SINGLE_LINES),
    Precedence(CALLS_THAT_WAIT),
    Precedence(NOTHING_WAITS, several=True),
)


def findings(facts: Facts) -> Findings:
    return {name: tuple(find(facts)) for name, find in SOURCES.items()}


def believe(facts: Facts, found: Findings) -> tuple[list[Believed], list[Note]]:
    """Those of the first row that has any and of which something holds, with their claims checked, and notes on what is
    not said therefore."""
    raw = Raw(facts.case)
    refuted: list[Said] = []
    for row in PRECEDENCE:
        believed = [finding for finding in found[row.source] if row.only is None or row.only(finding)]
        if believed and not _yields(row, believed, found):
            chosen = [
                with_what_else_was_read(facts, _with_tellings(facts, _with_logs(facts, fit(facts, one))))
                for one in (believed if row.several else believed[:1])
            ]
            chosen = [_with_stacks(raw, _with_suspects(one, found[STACKS]), found[STACKS]) for one in chosen]
            checked = [may_be_said(raw, finding) for finding in chosen]
            said = [one for one in checked if one.words]
            refuted += [one for one in checked if not one.words]
            if said:
                said += [] if row.source == NOTHING_WAITS else _wrong_numbers(facts, raw, said)
                return _with_notes(facts, said, [*refuted, *said])
    return _with_notes(facts, [_of_nothing(one) for one in refuted[:1]], refuted)


def _wrong_numbers(facts: Facts, raw: Raw, said: list[Said]) -> list[Said]:
    """They are no reason of a hang, nor the less wrong for it; unless they come of a call left out, or one too many."""
    shifted = any(CAUSES[one.finding.cause].family == "paths" for one in said)
    beside = [*other_reductions(facts), *(() if shifted else beside_a_wait(facts))]
    return [one for one in (may_be_said(raw, finding) for finding in beside) if one.words]


def _of_nothing(said: Said) -> Said:
    """Whom it was about may be suspected still; of what, and where, is not said."""
    bare = replace(said.finding, cause="undetermined", divergence=None, location=None, alternatives=())
    return replace(said, finding=bare)


def _with_notes(facts: Facts, said: list[Said], checked: list[Said]) -> tuple[list[Believed], list[Note]]:
    return [_believed(facts, one) for one in said], [note for one in checked for note in one.notes]


def _with_logs(facts: Facts, finding: Finding) -> Finding:
    """With what the ranks' own logs add to it: why, where, and who of several."""
    finding = with_own_place(facts, with_own_words(facts, _so_far(facts, finding)))
    return with_who_met_trouble(facts, with_another_start(facts, finding))


def _with_suspects(finding: Finding, by_stacks: tuple[Finding, ...]) -> Finding:
    """With whoever the stacks show apart, where nobody is named and nobody suspected."""
    named = finding.culprits or any(other.culprits for other in finding.alternatives)
    if named or finding.confidence != "hypothesis" or not finding.hang:
        return finding
    apart = tuple(
        perhaps(
            one.cause,
            one.sentence,
            one.culprits,
            decided_by=one.missing[0].how if one.missing else "the source",
        )
        for one in by_stacks
        if one.culprits and isinstance(one.sentence, str)
    )
    return replace(finding, alternatives=(*finding.alternatives, *apart))


def _with_stacks(raw: Raw, finding: Finding, by_stacks: tuple[Finding, ...]) -> Finding:
    """With the cohorts that the stacks show, where counters name just those of one, and not what they did: stacks
    alone may compare two calls that have other numbers."""
    if finding.divergence is not None or finding.cause != "undetermined" or not finding.culprits:
        return finding
    named = format_ranks(finding.culprits)
    apart = next((one for one in by_stacks if one.divergence and named in _cohorts(one.divergence)), None)
    if apart is None or apart.divergence is None:
        return finding
    if not all(holds(raw, one) for one in of_named(apart.divergence, finding.culprits, apart.cause)):
        return finding
    return replace(
        finding,
        divergence=apart.divergence,
        evidence=tuple(dict.fromkeys((*finding.evidence, *apart.evidence))),
    )


def _cohorts(divergence: Divergence) -> list[str]:
    return [cohort.ranks for cohort in divergence.cohorts]


def _with_tellings(facts: Facts, finding: Finding) -> Finding:
    """With what it says of those that it names, and of their stacks, logs and ends, as claims."""
    of_them = [claim for rank in finding.doing for claim in told_of(facts, rank, finding.evidence)]
    return replace(finding, claims=(*finding.claims, *of_them))


def _asked(question: Question, facts: Facts) -> list[Finding]:
    """What is found where no recorded call is in question: who is asked first is believed first."""
    return _of_whole_job(facts, *(find(facts, NO_WAIT) for find in finders(question)))


def _so_far(facts: Facts, finding: Finding) -> Finding:
    """Whoever is seen to get on is late, and not stuck, where nobody has waited for longer than may be."""
    if finding.cause != "host_slow" or facts.hung or facts.accounts.gave_up or anybody_waited(facts):
        return finding
    if any(patience(facts, call) is Patience.OVER for call in facts.waits.pending[:MOST_ASKED]):
        return finding
    return replace(finding, hang=False, confidence="hypothesis")


def _over(facts: Facts, finding: Finding) -> Finding:
    """A check that refuses a call ends it at once: with all processes gone, nothing hangs."""
    if finding.hang is None or not over_at_once(facts):
        return finding
    return replace(finding, hang=None, sentence=told(finding.sentence, IT_BROKE_OFF))


def _of_whole_job(facts: Facts, *found: Finding | None) -> list[Finding]:
    return [of_whole_job(facts, finding) for finding in found if finding is not None]


def _believed(facts: Facts, said: Said) -> Believed:
    """With what RAS says of it, too, and whether the job hangs."""
    finding = said.finding
    also, ids = said_by_ras(facts, finding)
    hosts = facts.accounts.hosts
    return Believed(
        finding=replace(
            finding,
            hang=hangs_or_not(facts, finding),
            evidence=tuple(dict.fromkeys([*finding.evidence, *ids])),
        ),
        words=tuple(filter(None, (*(said.words or (NOT_SHOWN,)), also))),
        claims=said.claims,
        waits=tuple(row.wait() for row in finding.waits),
        hosts={rank: hosts[rank] for rank in finding.culprits if rank in hosts},
    )
