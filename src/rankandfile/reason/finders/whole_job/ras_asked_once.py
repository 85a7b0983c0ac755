"""One answer of NCCL's RAS says who has launched fewer calls, and not whether the job stands still."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.ras_counts import launches
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper


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
            f"NCCL's RAS, asked once: {count.most} ranks have launched {count.usual:,} of "
            f"{count.op or 'their collectives'}, and {name} fewer "
            f"({', '.join(f'{count.numbers[n]:,}' for n in behind[:4])}). A job that moves looks like this at "
            "any moment; one that stands still, only if these are behind."
        ),
        evidence=(count.evidence,),
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(name)} may have left out a call, or be held up before it.",
                behind if count.of_rank else (),
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
