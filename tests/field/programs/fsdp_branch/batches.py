import torch


def make(rank, step, size=4):
    made = torch.Generator().manual_seed(step * 7 + rank)
    batch = {"words": torch.randint(0, 32, (size, 5), generator=made), "pictures": None}
    # Every so often the sampler draws a batch of text alone.
    if torch.rand((), generator=made) > 0.12:
        batch["pictures"] = torch.randn(size, 4, generator=made)
    return batch
