"""The main process of the whole job goes first, where each node needs one of its own.

## Why this is bad

`main_process_first` lets global rank 0 fill the cache before the others look. On every other node the cache is another
disk: all ranks there find it empty, fill it at the same time, and some read half a file or fail.

## Example

```python
from accelerate import PartialState

with PartialState().main_process_first():
    data = load_dataset("text", data_dir=folder)
```

## Use instead

```python
with PartialState().local_main_process_first():
    data = load_dataset("text", data_dir=folder)
```

## Limits

A hint: with a cache that all nodes share, or on one node, global rank 0 is the right one.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.lint.rule import Found, Rule, View
from rankandfile.source.program.called import called_name
from rankandfile.source.program.scopes import own_nodes

ORDER = 260
_FILLS = {"load_dataset", "map", "snapshot_download", "hf_hub_download", "from_pretrained"}


def _find(view: View) -> Iterable[Found]:
    for function in view.functions:
        for node in own_nodes(function):
            if not isinstance(node, (ast.With, ast.AsyncWith)):
                continue
            first = [e for item in node.items for e in view.events(item) if e.op == "main_process_first"]
            calls = (c for s in node.body for c in ast.walk(s) if isinstance(c, ast.Call))
            fills = next((c for c in calls if called_name(c) in _FILLS), None)
            if first and fills is not None:
                yield Found(
                    severity="hint",
                    function=function,
                    node=node,
                    message=f"on other nodes no rank goes first: all of them fill the cache of `{called_name(fills)}`",
                    fix="Use `local_main_process_first()`, unless all nodes share the cache.",
                )


RULE = Rule(find=_find)
