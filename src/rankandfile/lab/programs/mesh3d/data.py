"""Each replica reads its own part of a stream of samples, cut into micro-batches."""

import torch


class MicroBatches:
    def __init__(self, args, layout, step):
        generator = torch.Generator().manual_seed(args.seed + 1000 * step + layout.replica)
        shape = (args.microbatches, args.samples, args.width)
        self.inputs = torch.rand(shape, generator=generator)
        self.targets = self.inputs.roll(1, dims=-1)

    def __len__(self):
        return len(self.inputs)
