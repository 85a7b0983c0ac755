"""Column- and row-parallel layers with hand-written collectives."""

import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class CopyToTensorParallel(torch.autograd.Function):
    """Identity forward, all-reduce backward."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class ReduceFromTensorParallel(torch.autograd.Function):
    """All-reduce forward, identity backward."""

    @staticmethod
    def forward(ctx, x, group):
        x = x.contiguous()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class ParallelMLP(nn.Module):
    def __init__(self, width, layout):
        super().__init__()
        hidden = 4 * width // layout.tp_size
        self.group = layout.tp_group
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        x = CopyToTensorParallel.apply(x, self.group)
        x = self.down(F.gelu(self.up(x)))
        return ReduceFromTensorParallel.apply(x, self.group) + self.bias


class ParallelAttention(nn.Module):
    def __init__(self, width, layout):
        super().__init__()
        self.head = width // layout.tp_size
        self.group = layout.tp_group
        self.qkv = nn.Linear(width, 3 * self.head)
        self.out = nn.Linear(self.head, width, bias=False)

    def forward(self, x):
        x = CopyToTensorParallel.apply(x, self.group)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head)
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        x = self.out(torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ v)
        return ReduceFromTensorParallel.apply(x, self.group)


class Block(nn.Module):
    def __init__(self, width, layout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = ParallelAttention(width, layout)
        self.mlp = ParallelMLP(width, layout)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, args, layout):
        super().__init__()
        self.embed = nn.Embedding(args.vocabulary, args.width)
        self.blocks = nn.ModuleList(Block(args.width, layout) for _ in range(args.layers))
        self.norm = nn.LayerNorm(args.width)
        self.layout = layout

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.embed.weight.T
