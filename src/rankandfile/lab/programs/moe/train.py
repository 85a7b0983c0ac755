"""Train a mixture-of-experts model with one expert per rank."""

import argparse
import logging
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn import functional as F

from network import Network
from stream import Stream
from sync import mean_load, reduce_shared

log = logging.getLogger("moe")
VOCABULARY = 40


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--log-every", type=int, default=4)
    return parser.parse_args()


def train(args):
    rank = dist.get_rank()
    expert_group = dist.new_group(list(range(dist.get_world_size())), group_desc="expert_parallel")
    torch.manual_seed(1)
    network = Network(args.layers, args.width, VOCABULARY, expert_group)
    stream = Stream(rank, VOCABULARY)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for step in range(1, args.steps + 1):
        tokens, targets = stream.batch(step)
        optimizer.zero_grad(set_to_none=True)
        logits, loads = network(tokens)
        loss = F.cross_entropy(logits, targets.flatten())
        loss.backward()
        reduce_shared(network)
        optimizer.step()
        if step % args.log_every == 0:
            load = mean_load(loads)
            log.info("step %d loss %.4f busiest expert %.2f", step, loss.item(), load.max().item())
    dist.barrier()
    log.info("finished")


def main():
    args = parse()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s r{os.environ['RANK']} %(message)s")
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    train(args)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
