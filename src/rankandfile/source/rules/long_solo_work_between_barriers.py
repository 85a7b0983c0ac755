"""One rank works for long while the others wait for it in a collective.

## Why this is bad

Tokenising, downloading or copying a checkpoint on rank 0 can take longer than the timeout of the collective in which
the others wait: the job is killed, and the network is blamed.

## Example

```python
import torch.distributed as dist

if dist.get_rank() == 0:
    snapshot_download(repository)
dist.barrier()
```

## Use instead

```python
dist.init_process_group("nccl", timeout=timedelta(hours=2))
if dist.get_rank() == 0:
    snapshot_download(repository)
dist.barrier()
```

## Limits

A hint: how long the work takes is not in the code. Known as long are downloads, copies of trees, data sets that are
built and other programs that are run. A timeout given to `init_process_group` makes it silent.
"""

import ast
from collections.abc import Iterable

from rankandfile.source.dependence import why
from rankandfile.source.dependence.syntax import argument, parents, text
from rankandfile.source.effects.event import Event
from rankandfile.source.lint.rule import RANK, Found, Rule, View
from rankandfile.source.program.called import called_name
from rankandfile.source.program.scopes import own_nodes

ORDER = 250
_LONG = {
    "snapshot_download",
    "hf_hub_download",
    "load_dataset",
    "download_and_prepare",
    "copytree",
    "urlretrieve",
    "make_archive",
    "unpack_archive",
    "check_call",
    "check_output",
}


def _find(view: View) -> Iterable[Found]:
    starts = [
        e
        for es in view.effects.of.values()
        for e in es
        if isinstance(e, Event) and e.op == "init_process_group"
    ]
    if any(isinstance(e.site, ast.Call) and argument(e.site, "timeout") is not None for e in starts):
        return
    for function in view.functions:
        table = parents(function.module)
        for node in own_nodes(function):
            if not isinstance(node, ast.If):
                continue
            work = next(
                (
                    c
                    for s in node.body
                    for c in ast.walk(s)
                    if isinstance(c, ast.Call) and called_name(c) in _LONG
                ),
                None,
            )
            block = getattr(table.get(node), "body", [])
            if work is None or not isinstance(block, list) or node not in block:
                continue
            behind = [e for s in block[block.index(node) + 1 :][:3] for e in view.events(s)]
            if behind and why(view.program, function, node.test).source in RANK:
                yield Found(
                    severity="hint",
                    function=function,
                    node=node,
                    message=f"the others wait in `{behind[0].op}` for as long as `{text(work, 50)}` takes",
                    fix=(
                        "Give the group a timeout that this work cannot exceed, or do it before the job starts."
                    ),
                )


RULE = Rule(find=_find, cause="host_slow")
