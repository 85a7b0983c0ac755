"""A sharded model generates text, and each rank stops when its own text ends.

## Why this is bad

Under ZeRO stage 3 and FSDP every generated token gathers the parameters. A rank whose text has ended leaves
`generate`, and the others wait for it in the next token's gather.

## Example

```python
import deepspeed

engine, *_ = deepspeed.initialize(model=model, config=stage_3)
texts = engine.module.generate(prompts, max_new_tokens=512)
```

## Use instead

```python
texts = engine.module.generate(prompts, max_new_tokens=512, synced_gpus=True)
```

## Limits

Reported where the model that generates is seen to be wrapped; Transformers decides by itself in some versions, where
the model is its own. A length that is fixed (`min_new_tokens` and `max_new_tokens`) is silent.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.syntax import argument
from rankandfile.source.effects.event import objects_of
from rankandfile.source.lint.rule import Found, Rule, View

ORDER = 240
_SHARDED = {
    "deepspeed.DeepSpeedEngine": "ZeRO stage 3",
    "torch.distributed.fsdp.FullyShardedDataParallel": "FSDP",
    "torch.distributed.fsdp.fully_shard": "FSDP",
}


def _find(view: View) -> Iterable[Found]:
    for site in view.effects.index.calls("generate"):
        func = site.call.func
        if not isinstance(func, ast.Attribute) or view.skip(site.function):
            continue
        if (
            argument(site.call, "synced_gpus") is not None
            or argument(site.call, "min_new_tokens") is not None
        ):
            continue
        model = (
            func.value.value
            if isinstance(func.value, ast.Attribute) and func.value.attr == "module"
            else func.value
        )
        objects = objects_of(view.program)
        wrapper = next(
            (name for name in objects.externals(model, Frame(site.function)) if name in _SHARDED), None
        )
        if wrapper is not None:
            yield Found(
                severity="warning",
                function=site.function,
                node=site.call,
                message=f"under {_SHARDED[wrapper]}, ranks leave `generate` when their own text ends",
                fix="Pass `synced_gpus=True`, or generate a fixed number of tokens.",
            )


RULE = Rule(find=_find)
