"""Found in the source: the loop over a rank's own share of the data ended, and nothing else differs."""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER, OUT_OF_STEP
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy

CAUSE = Cause(
    word="uneven_inputs",
    family="paths",
    place=60,
    meaning="Some ranks ran out of data before the others.",
    help="Whoever has fewer batches makes fewer collectives. Look at how the data are divided, and at "
    "dropped or filtered samples.",
    remedies=(
        Remedy(
            title="Let all ranks run out of data together",
            text="Give every rank the same number of batches (drop_last, padding, a sampler that knows all "
            "ranks), reduce 'has another batch' (MIN) before each step, or train under the join "
            "context of DDP.",
        ),
    ),
    anti_advice=(OUT_OF_STEP, FIRST_LOGGER),
    did="ran out of data first",
    title="A rank ran out of data",
    page="""
## How it comes about

One rank has a batch less than the others:

```python
for batch in DataLoader(shards[rank]):  # shards of unequal length
    step(batch)
```

The call that ends the loop on one rank is the loader's, not a decision of the program; that is what tells it from
[`early_exit`](early_exit.md). Cut or pad the shards, use `drop_last`, torch's `Join`, or
[`guard.uneven`](../guards.md).
""",
    scenario="uneven_shards",
)
