import torch


def batches(shards, width=8):
    for shard in shards:
        made = torch.Generator().manual_seed(len(shard.name) + shard.size)
        for _ in range(shard.size):
            x = torch.randn(4, width, generator=made)
            yield x, x.sum(dim=1, keepdim=True)
