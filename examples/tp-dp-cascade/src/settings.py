"""Layout and hyper-parameters of the tensor-parallel language model."""

import argparse


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dp", type=int, default=2)
    parser.add_argument("--tp", type=int, default=2)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--sequence", type=int, default=16)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--vocabulary", type=int, default=96)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--log-every", type=int, default=4)
    parser.add_argument("--save-every", type=int, default=10)
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()
