"""The trail ends at a rank of which nothing tells whether it has come: it left no dump, or one cut short, or rings have
lost what its calls would be counted by. That it is not seen does not make it guilty.

But a process that is still there, and of which neither a dump nor a stack could be had, as of all others, runs nothing.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.heuristics import heuristic
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import waiting
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.missing_dumps import absent_ranks, reasons, without_dumps
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.backends import all_by_gloo
from rankandfile.reason.waits.graph import Pending, WaitEnd
from rankandfile.reason.waits.in_words import first_pending, in_calls, pending_row
from rankandfile.reason.waits.patience import Patience, is_new_work, patience
from rankandfile.reason.waits.seen_elsewhere import of_several_groups
from rankandfile.reason.words import ranks_words, upper, verb

from .never_joined import INSTEAD


@finder(precedence=260)
@heuristic("no dump and no word", "the trail ends at a rank of which nothing tells whether it came")
def may_have_joined(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "missing":
        return None
    call = first_pending(facts, wait_end)
    if call is None:
        return None
    if not set(wait_end.ranks) & set(absent_ranks(facts)):
        return _uncounted(facts, wait_end, call)
    if _run_nothing(facts, wait_end.ranks):
        return _frozen(facts, wait_end, call)
    if _carries_no_more(facts, wait_end, call):
        return _silent(facts, wait_end, call)
    row = pending_row(facts, call)
    those = ranks_words(wait_end.ranks)
    without = without_dumps(facts, list(wait_end.ranks), "left no complete dump")
    they = verb(wait_end.ranks, "it", "they") if without.startswith(those) else those
    sentence = told(
        waiting(in_calls(facts, call), ", which every rank with a usable dump has joined."),
        f"{upper(without)}: {they} may never have joined, or all "
        "have joined and the device or the network is at fault. The dumps at hand do not decide it.",
    )
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=sentence,
        evidence=cited(row),
        contradicted_by=f"the dump of {those}",
        alternatives=(
            perhaps(
                "undetermined",
                f"{upper(those)} never joined.",
                wait_end.ranks,
                decided_by=f"the dump of {those}",
            ),
            perhaps(
                "network_stalled",
                "All have joined, and the collective does not finish.",
                decided_by=f"the dump of {those}",
            ),
        ),
        missing=(
            Missing(
                what=f"the dump of {those}",
                how="set the dump path to storage that outlives the process, on every host "
                "(TORCH_FR_DUMP_TEMP_FILE), and collect from all ranks before the job is torn down",
            ),
        ),
    )


@heuristic(
    "runs nothing",
    "a living process that gave neither dump nor stack, as all others did, stands still",
    otherwise=False,
)
def _run_nothing(facts: Facts, ranks: tuple[int, ...]) -> bool:
    """Their processes were found alive, and neither wrote anything nor could be looked at; all others did and could."""
    others = {rank for members in facts.membership.members.values() for rank in members} - {*ranks}
    return (
        [*ranks] == absent_ranks(facts)
        and len(others) > len(ranks)
        and all(_seen_alive(facts, rank) and rank not in facts.hosts for rank in ranks)
        and all(rank in facts.hosts for rank in others)
        and all(reason.why == "unknown" for reason in reasons(facts, [*ranks]).values())
    )


def _seen_alive(facts: Facts, rank: int) -> bool:
    """By who looked at the process itself, on its host."""
    end = facts.accounts.ends.get(rank)
    return end is not None and end.kind == "running" and any(i.startswith("X") for i in end.evidence)


def _frozen(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding:
    ranks, row = wait_end.ranks, pending_row(facts, call)
    those, its = ranks_words(ranks), verb(ranks, "its process is", "their processes are")
    return Finding(
        cause="host_blocked",
        confidence="supported",
        sentence=told(
            waiting(in_calls(facts, call)),
            f"Of {those} there is neither a dump nor a stack, as there is of every other rank, and {its} still there: "
            f"{verb(ranks, 'it seems', 'they seem')} to run nothing at all, and then that call cannot end, joined "
            "or not.",
        ),
        culprits=ranks,
        doing=dict.fromkeys(
            ranks, "still there, but gave neither dump nor stack: stopped, or held in the kernel"
        ),
        evidence=(*cited(row), *(i for rank in ranks for i in facts.accounts.ends[rank].evidence[:1])),
        contradicted_by=f"the state of the process of {those}: running or sleeping, and not stopped",
        alternatives=(
            perhaps(
                "network_stalled",
                f"The dump and the stack of {those} may only not have been collected.",
                decided_by="State in /proc/PID/status: T is stopped, D is held in the kernel",
            ),
        ),
        missing=(
            Missing(
                what=f"the state of the process of {those}",
                how="State and wchan in /proc/PID: T is stopped by a signal (kill -CONT lets it go on), D is held in "
                "the kernel by a disk or a driver",
            ),
        ),
    )


@heuristic(
    "no dump where processes carry",
    "gloo's calls are carried by their ranks' processes: all others wait, and one left nothing",
    otherwise=False,
)
def _carries_no_more(facts: Facts, wait_end: WaitEnd, call: Pending) -> bool:
    """Whether a call that has waited too long is one of gloo's, in which no device has a part: if all had come, their
    processes would end it. And those without a dump are few, left no file at all, and may be in no transfer."""
    ranks = wait_end.ranks
    return (
        all_by_gloo(facts.case)
        and len(ranks) < len(call.waiting)
        and [*ranks] == absent_ranks(facts)
        and not facts.hidden
        and all(reason.why == "unknown" for reason in reasons(facts, [*ranks]).values())
        and not any(rank in facts.hosts for rank in ranks)
        # Nor in the call of another group, or waited for by one of which nobody knows where it is.
        and not of_several_groups(facts)
        and {*facts.case.ranks_seen} <= {*facts.waits.of_rank, *ranks}
        and _too_long(facts, call)
    )


def _too_long(facts: Facts, call: Pending) -> bool:
    """How long work takes that is done for the first time, no pause before it tells."""
    waited = patience(facts, call)
    return waited in (Patience.OVER, Patience.SAID) or (
        waited is Patience.LATE and not is_new_work(facts, call)
    )


def _silent(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding:
    ranks, row = wait_end.ranks, pending_row(facts, call)
    those, their = ranks_words(ranks), verb(ranks, "its process", "their processes")
    came = verb(ranks, "It has", "They have")
    return Finding(
        cause="undetermined",
        confidence="supported",
        sentence=told(
            waiting(in_calls(facts, call), ", which every rank with a dump has joined."),
            f"{upper(those)} left no dump, as all others did. gloo's calls are carried by the ranks' processes: had "
            f"{verb(ranks, 'it', 'they')} joined and were {their} at work, the call would end. {came} not come to it, "
            f"asked for something else in it, or {verb(ranks, 'is', 'are')} gone or stopped since.",
        ),
        culprits=ranks,
        doing=dict.fromkeys(ranks, "left no dump, as all others did"),
        location=lookup.location_of(facts, row),
        evidence=cited(row),
        contradicted_by=f"the dump of {those}",
        alternatives=(
            *(perhaps(cause, words, ranks, decided_by=decided) for cause, words, decided in INSTEAD),
            perhaps(
                "network_stalled",
                f"All have joined, and the dump of {those} was only not collected.",
                decided_by=f"the dump of {those}",
            ),
        ),
        missing=(
            Missing(
                what=f"what became of {those}",
                how="its exit code and log, or py-spy dump --pid PID on its host while it hangs",
            ),
        ),
    )


def _uncounted(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding:
    """Their dumps are here, and do not tell which of their calls belongs to the one that is waited in."""
    row = pending_row(facts, call)
    those = ranks_words(wait_end.ranks)
    why = (
        "which of their sends and receives belong together is ambiguous: the rings have lost how many came before, and "
        "no collective that both kept lies between to count from"
        if call.slot is None
        else "the rings have lost what their calls could be counted by"
    )
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=told(
            waiting(in_calls(facts, call)),
            f"Whether {those} {verb(wait_end.ranks, 'has', 'have')} come to it cannot be told: {why}.",
        ),
        evidence=cited(row),
        contradicted_by=f"the calls that the ring of {those} has lost",
        alternatives=(
            perhaps(
                "undetermined",
                f"{upper(those)} never came to it.",
                wait_end.ranks,
                decided_by=f"the stack of {those}",
            ),
            perhaps(
                "network_stalled",
                "All have come to it, and it does not finish.",
                decided_by=f"the stack of {those}",
            ),
        ),
        missing=(
            Missing(
                what=f"the calls that the rings have lost, or where {those} {verb(wait_end.ranks, 'stands', 'stand')}",
                how="a larger ring (TORCH_FR_BUFFER_SIZE counts calls); py-spy dump --pid PID on each rank",
            ),
        ),
    )
