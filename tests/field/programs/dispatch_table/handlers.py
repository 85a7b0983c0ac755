import torch
import torch.distributed as dist


def plain(state, value):
    state["total"] += value.item()


def shared(state, value):
    dist.all_reduce(value)
    state["total"] += value.item()


def best(state, value):
    dist.all_reduce(value, op=dist.ReduceOp.MAX)
    state["best"] = max(state["best"], value.item())


HANDLERS = {"sum": shared, "best": best, "local": plain}


def kind_of(record):
    if record["weight"] > 0.97:
        return "local"
    return "best" if record["step"] % 3 == 0 else "sum"


def handle(state, record):
    kind = kind_of(record)
    HANDLERS[kind](state, torch.tensor([record["value"]]))
