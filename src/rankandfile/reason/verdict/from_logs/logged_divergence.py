"""Why a rank is out of step, in its own words: of a job without recorded calls, what it alone wrote before."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.sentence import told
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.from_logs.logged_divergences import logged_divergences
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper

#: That ranks asked for different things, or that some did not come, is how it shows; not why.
_SHOWS = frozenset(
    ("undetermined", "host_blocked", "skipped_collective", "extra_collective", "different_collective")
)
_ARGUMENTS = "arguments"


def with_own_words(facts: Facts, finding: Finding) -> Finding:
    """The finding, with the cause that all whom it names tell of themselves, and no other rank does."""
    shows = finding.cause in _SHOWS or CAUSES[finding.cause].family == _ARGUMENTS
    if facts.call_table.calls.height or not finding.culprits or not shows or finding.location is not None:
        return finding
    said = logged_divergences(facts)
    named = [said[rank] for rank in finding.culprits if rank in said]
    if len(named) < len(finding.culprits) or len({one.cause for one in named}) != 1:
        return finding
    first = named[0]
    those = ranks_words(list(finding.culprits))
    before = finding.cause
    return replace(
        finding,
        cause=first.cause,
        sentence=told(finding.sentence, f'{upper(those)} alone wrote before that: "{first.words}".'),
        location=first.place,
        doing={
            rank: f'{words}; wrote before that: "{said[rank].words}"' for rank, words in finding.doing.items()
        },
        evidence=tuple(
            dict.fromkeys((*finding.evidence[:3], *(one.evidence for one in named), *finding.evidence[3:]))
        ),
        alternatives=(
            perhaps(
                before,
                "That line may have nothing to do with it.",
                finding.culprits,
                decided_by="the code that prints it",
            ),
            *finding.alternatives,
        )
        if before != "undetermined"
        else finding.alternatives,
    )
