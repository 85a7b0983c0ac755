"""Layout and hyper-parameters."""

import argparse


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dp", type=int, default=2)
    parser.add_argument("--pp", type=int, default=2)
    parser.add_argument("--tp", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--microbatches", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4, help="in one micro-batch")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--log-every", type=int, default=2)
    parser.add_argument("--seed", type=int, default=11)
    return parser.parse_args()
