"""What answers of NCCL's RAS say alone: counts that go up from one to the next, ranks that it cannot reach, and, of a
single answer, who has launched fewer calls, which does not say whether the job stands still."""

from __future__ import annotations

import polars as pl

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.model.events import event_id
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.ras_counts import Launches, launches
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper


@finder(precedence=40, of="logs")
def answers_that_move(facts: Facts, _: WaitEnd) -> Finding | None:
    """The highest count of an operation is that of the last look. Two looks that share it are of a job that stands."""
    if facts.hung or facts.accounts.gave_up or facts.accounts.stuck_watchdogs:
        return None
    seen: dict[tuple[str, str], list[Launches]] = {}
    for one in launches(facts.case, facts.accounts, world_of(facts)):
        seen.setdefault((one.comm, one.op), []).append(one)
    for (_comm, op), looks in seen.items():
        last = max(looks, key=lambda one: one.usual)
        if (
            any(one.again for one in looks)
            or len({one.usual for one in looks}) < len(looks)
            or len(looks) < 2
        ):
            continue
        looks = sorted(looks, key=lambda one: one.usual)
        return Finding(
            hang=False,
            cause="no_hang",
            confidence="supported",
            sentence=(
                f"The job moves: NCCL's RAS counts more launches of {op or 'collectives'} in each answer "
                f"({', '.join(str(one.usual) for one in looks)}). That some ranks are a launch or two behind at the "
                "moment of an answer is usual of a job that moves, and accuses nobody."
            ),
            evidence=tuple(one.evidence for one in (looks[0], last)),
            contradicted_by="a later answer with the counts of the last",
        )
    return None


@finder(precedence=45, of="logs")
def ranks_that_do_not_answer(facts: Facts, _: WaitEnd) -> Finding | None:
    """Numbers of the communicator that spans the job are ranks. Processes of one host that are dead all at once are
    the host's; a single one may have ended, or be stopped."""
    rows = [
        row
        for row in facts.case.events.filter(pl.col("kind").cast(pl.String) == "ras_missing_ranks")
        .sort("log", "line")
        .iter_rows(named=True)
        if fields_of(row).get("size") == world_of(facts) and row["about"]
    ]
    if not rows or len({tuple(row["about"]) for row in rows}) != 1:
        return None
    ranks = tuple(sorted(rows[0]["about"]))
    gone = facts.case.events.filter(pl.col("kind").cast(pl.String).is_in(["ras_dead", "ras_missing"]))
    dead = bool((gone["kind"].cast(pl.String) == "ras_dead").any())
    processes = [p for row in gone.iter_rows(named=True) for p in _processes(row)]
    hosts = sorted({host for host, _ in processes})
    whole = dead and len(hosts) == 1 and len(ranks) > 1
    where = (
        f" (processes {', '.join(str(pid) for _, pid in processes[:8])} on {', '.join(hosts[:4])})"
        if hosts
        else ""
    )
    said = "considers dead" if dead else "gets no answer of"
    others = world_of(facts) - len(ranks)
    return Finding(
        cause="peer_unreachable",
        confidence="supported" if whole else "hypothesis",
        sentence=f"NCCL's RAS {said} {ranks_words(ranks)}{where}; the {others} others answer.",
        culprits=ranks,
        doing=dict.fromkeys(ranks, f"NCCL's RAS {said} its process"),
        evidence=tuple(event_id(row["log"], row["line"]) for row in rows[:1])
        + tuple(event_id(log, line) for log, line in gone.select("log", "line").head(2).iter_rows()),
        contradicted_by="a later answer in which they take part",
        alternatives=(
            perhaps(
                "killed",
                f"{upper(ranks_words(ranks))} may have ended, or be stopped.",
                ranks,
                decided_by="whether the host answers, its kernel log, the exit codes",
            ),
        ),
        missing=(
            Missing(
                what="what became of these processes",
                how=f"{'ping and ssh of ' + hosts[0] + ', ' if hosts else ''}the scheduler's word on that host, "
                "`dmesg -T` there",
            ),
        ),
    )


def _processes(row: Row) -> list[tuple[str, int]]:
    listed = [p for p in fields_of(row).get("processes") or () if isinstance(p, dict)]
    if not listed and row["pid"] is not None:
        listed = [{"host": row["host"], "pid": row["pid"]}]
    return [(str(p.get("host")), int(p.get("pid") or 0)) for p in listed]


@finder(precedence=50, of="logs")
def one_answer_of_ras(facts: Facts, _: WaitEnd) -> Finding | None:
    """One answer of a job of which nothing says that it stands still gives suspects, and no more."""
    counts = launches(facts.case, facts.accounts, world_of(facts))
    moved = [
        one
        for one in counts
        if any(o.op == one.op and o.usual != one.usual and o.size == one.size for o in counts)
    ]
    if not counts or moved:
        return None
    count = counts[0]
    behind = sorted(number for number, n in count.numbers.items() if n < count.usual)
    if not behind:
        return None
    name = ranks_words(behind) if count.of_rank else f"number {format_ranks(behind)} of the communicator"
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=(
            f"NCCL's RAS, asked once: {count.most} ranks have launched {count.usual} of "
            f"{count.op or 'their collectives'}, and {name} fewer "
            f"({', '.join(str(count.numbers[n]) for n in behind[:4])}). A job that moves looks like this at "
            "any moment; one that stands still, only if these are behind."
        ),
        evidence=(count.evidence,),
        alternatives=(
            Alternative(
                cause="skipped_collective",
                confidence="hypothesis",
                sentence=f"{upper(name)} may have left out a call, or be held up before it.",
                culprits=format_ranks(behind) if count.of_rank else "",
                decided_by="a second answer some seconds later: the same counts mean that it stands",
            ),
        ),
        missing=(
            Missing(
                what="whether the job stands still",
                how="ask again after 30 s (ncclras -v), and keep both answers",
            ),
        ),
        unadvised=("probes",),
    )
