"""The two halves of tensor parallelism, each the other's gradient."""

import torch
import torch.distributed as dist


class Spread(torch.autograd.Function):
    """Every shard gets the same input; their gradients are summed."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class Combine(torch.autograd.Function):
    """The shards' outputs are summed; each gets the same gradient."""

    @staticmethod
    def forward(ctx, x, group):
        x = x.contiguous()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad, None
