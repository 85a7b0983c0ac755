"""What the ranks of the tests of the hook run."""

from __future__ import annotations

import json
import time
from typing import Any

import torch
import torch.distributed as dist

from rankandfile.runtime.flight_recorder import FlightRecorderHook


def hooked() -> dict[str, Any]:
    """Two calls on a group of its own, and one that only rank 0 makes; what a hook has that was let go before that."""
    hook, let_go = FlightRecorderHook(max_entries=10), FlightRecorderHook()
    dist.init_process_group("gloo")
    pair = dist.new_group([0, 1], group_desc="pair")
    hook.register_with_comm(pair)
    for _ in range(2):
        dist.all_reduce(torch.ones(2), group=pair)
    let_go.register_with_comm(pair)
    let_go.unregister()
    dist.all_reduce(torch.ones(3))
    if dist.get_rank() == 0:
        dist.broadcast(torch.ones(4), src=0, group=pair, async_op=True)
    hook.dump_file(dist.get_rank())
    found: dict[str, Any] = json.loads(hook.dump_json())
    found["let_go"] = [let_go.size(), let_go.is_enabled()]
    hook.reset()
    found["after_reset"] = hook.size()
    hook.unregister()
    dist.barrier()
    time.sleep(0.3 if dist.get_rank() == 0 else 0)
    return found
