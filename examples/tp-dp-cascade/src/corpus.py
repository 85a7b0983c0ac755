"""Token batches; each data-parallel replica reads its own documents."""

import torch


class Corpus:
    def __init__(self, args, layout):
        self.args = args
        self.generator = torch.Generator().manual_seed(args.seed + 31 * layout.dp_rank)

    def next_batch(self):
        shape = (self.args.batch, self.args.sequence + 1)
        tokens = torch.randint(0, self.args.vocabulary, shape, generator=self.generator)
        return tokens[:, :-1], tokens[:, 1:]
