"""The trail ends at a rank that left no dump, or one cut short. That it is not seen does not make it guilty."""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import look
from rankandfile.reason.facts import Facts
from rankandfile.reason.waiting import call_phrase, first_pending, pending_row
from rankandfile.reason.waits import Root
from rankandfile.reason.words import ranks_words, upper, verb

from .finding import Finding

CAUSE = "undetermined"


def find(facts: Facts, root: Root) -> Finding | None:
    if root.kind != "missing":
        return None
    call = first_pending(facts, root)
    if call is None:
        return None
    row = pending_row(facts, call)
    those = ranks_words(root.ranks)
    sentence = (
        f"{upper(ranks_words(call.waiting))} {verb(call.waiting, 'waits', 'wait')} in the {call_phrase(facts, call)}, "
        f"which every rank with a usable dump has joined. {upper(those)} left no complete dump: "
        f"{verb(root.ranks, 'it', 'they')} may never have joined, or all have joined and the device or the network "
        "is at fault. The dumps at hand do not decide it."
    )
    return Finding(
        cause=CAUSE,
        confidence="hypothesis",
        sentence=sentence,
        evidence=tuple([look.evidence_of(row)] if row else []),
        contradicted_by=f"the dump of {those}",
        alternatives=(
            Alternative(
                cause="undetermined",
                confidence="hypothesis",
                sentence=f"{upper(those)} never joined.",
                culprits=format_ranks(root.ranks),
                decided_by=f"the dump of {those}",
            ),
            Alternative(
                cause="network_stalled",
                confidence="hypothesis",
                sentence="All have joined, and the collective does not finish.",
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
        explains=len(root.victims),
    )
