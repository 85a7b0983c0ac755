"""All ranks made the same call, with different dtypes."""

from __future__ import annotations

from rankandfile.model.advice import NEVER_MATCHES
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import Facts, WaitEnd, other_amount, other_arguments
from rankandfile.reason.verdict.finding import Finding

CAUSE = Cause(
    word="dtype_mismatch",
    family="arguments",
    place=20,
    meaning="Ranks called one collective with tensors of different types.",
    help="The collective needs equal types on all members. Look at where the tensor is made from Python "
    "values.",
    remedies=(
        Remedy(
            title="Fix the dtype where the tensor is made",
            text="torch.tensor(python values) takes its dtype from the values: name it, or cast before the "
            "call.",
        ),
        Remedy(
            title="Hold equally many items on every rank",
            text="Where a library makes one such call for each item of a list (a metric's states), a rank with fewer "
            "items comes to those of the next list earlier: join them before, or make the lists equally long.",
        ),
    ),
    anti_advice=(NEVER_MATCHES,),
    did="asked for another dtype",
    title="Tensors of different types",
    page="""
## How it comes about

The type comes from a Python value:

```python
count = torch.tensor(total)  # int64 where total is 3, float32 where it is 3.0
dist.all_reduce(count)
```

Equal numbers of elements, unequal numbers of bytes: to NCCL this is a size mismatch.

Or it is the type of another tensor: a metric that gathers the items of its lists one by one comes to the next list
earlier on a rank that has seen a batch less.
""",
    scenario="dtype-metrics",
)


@finder(precedence=40)
def of_a_collective(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    return other_arguments(facts, wait_end, "dtype_mismatch", "dtype")


@finder(precedence=70)
def of_a_transfer(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    return other_amount(facts, wait_end, "dtype_mismatch")
