"""Move tokens to their experts and back with all-to-all."""

import torch
import torch.distributed as dist


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, send, receive, group):
        ctx.send, ctx.receive, ctx.group = send, receive, group
        out = x.new_empty((sum(receive), x.shape[1]))
        dist.all_to_all_single(out, x.contiguous(), receive, send, group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_empty((sum(ctx.send), grad.shape[1]))
        dist.all_to_all_single(out, grad.contiguous(), ctx.send, ctx.receive, group=ctx.group)
        return out, None, None, None


def exchange_counts(counts, group):
    """How many tokens each rank will send to this one."""
    incoming = torch.empty_like(counts)
    dist.all_to_all_single(incoming, counts, group=group)
    return incoming
