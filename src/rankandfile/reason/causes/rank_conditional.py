"""Found where the ways to two calls part in one function, or in the source, where the branch asks for the rank."""

from __future__ import annotations

from rankandfile.model.advice import AGREE, FIRST_LOGGER, FLAG, OUT_OF_STEP
from rankandfile.model.causes import Cause

CAUSE = Cause(
    word="rank_conditional",
    family="paths",
    place=70,
    meaning="A collective stands under a condition that depends on the rank.",
    help="Only the ranks for which the condition holds make the call; a collective needs all members of its "
    "group. Move the call out of the branch.",
    remedies=(AGREE, FLAG),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="took a branch that depends on the rank",
    title="A call under a condition on the rank",
    page="""
## How it comes about

The form that everyone has written once:

```python
if rank == 0:
    save(model)  # a barrier, a gather, a state_dict of shards inside
```

The condition need not say `rank`: anything that comes from the rank counts, such as a file that lies on one host, or a
value of the local batch. With `--src` the verdict shows the chain from the condition to where it begins to differ.
""",
    scenario="save_on_main_only",
)
