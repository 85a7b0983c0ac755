"""All ranks made the same call, with different sizes."""

from __future__ import annotations

from rankandfile.model.advice import NEVER_MATCHES
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import Facts, WaitEnd, other_amount, other_arguments
from rankandfile.reason.verdict.finding import Finding

CAUSE = Cause(
    word="size_mismatch",
    family="arguments",
    place=10,
    meaning="Ranks called one collective with tensors of different sizes.",
    help="The collective needs equal sizes on all members. Look at what sets the size: the batch, the "
    "sequence length, the number of items on this rank.",
    remedies=(
        Remedy(
            title="Make the sizes equal before the call",
            text="Pad to the longest (after an all_reduce MAX of the length), or exchange the sizes first "
            "and use a call that takes uneven ones.",
        ),
    ),
    anti_advice=(NEVER_MATCHES,),
    did="asked for another size",
    title="Tensors of different sizes",
    page="""
## How it comes about

The size comes from the data of the rank:

```python
lengths = torch.zeros(len(batch))  # len(batch) differs
dist.all_reduce(lengths)
```

NCCL does not compare sizes between ranks. The call may hang, or end with wrong numbers.
""",
    scenario="size-metrics",
)


@finder(precedence=30)
def of_a_collective(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    return other_arguments(facts, wait_end, "size_mismatch", "size")


@finder(precedence=70)
def of_a_transfer(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    return other_amount(facts, wait_end, "size_mismatch")
