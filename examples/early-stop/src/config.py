"""Settings of a training run, from the command line."""

import argparse
from dataclasses import dataclass


@dataclass
class TrainConfig:
    epochs: int = 2
    batch_size: int = 8
    learning_rate: float = 0.05
    eval_every: int = 8
    save_every: int = 12
    log_every: int = 4
    patience: int = 6
    num_workers: int = 0
    seed: int = 17
    timeout_minutes: float = 10.0
    output: str = "output"


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    defaults = TrainConfig()
    for name, value in vars(defaults).items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return TrainConfig(**vars(parser.parse_args()))
