"""Sequence classification data: the manifest says what each rank's shard holds."""

import json
import os

import torch
from torch.utils.data import DataLoader, Dataset

VOCABULARY = 64
CLASSES = 4


UNLABELLED = -100


class SequenceShard(Dataset):
    """Token sequences; samples that nobody has annotated yet have no label."""

    def __init__(self, size, length, seed, unlabelled=()):
        generator = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(0, VOCABULARY, (size, length), generator=generator)
        self.labels = self.tokens.sum(dim=1) % CLASSES
        for first, last in unlabelled:
            self.labels[first:last] = UNLABELLED

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.tokens[index], self.labels[index]


def read_manifest():
    path = os.path.join(os.path.dirname(__file__), "shards.json")
    with open(path) as file:
        return json.load(file)["shards"]


def training_loader(config, rank):
    entry = read_manifest()[rank]
    shard = SequenceShard(entry["samples"], 12, config.seed * 1000 + rank, entry["unlabelled"])
    return DataLoader(shard, batch_size=config.batch_size, num_workers=config.num_workers)


def validation_loader(config, rank):
    shard = SequenceShard(4 * config.batch_size, 12, config.seed * 7000 + rank)
    return DataLoader(shard, batch_size=config.batch_size)
