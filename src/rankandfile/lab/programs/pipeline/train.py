"""Train a pipeline of stages with data-parallel replicas."""

import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn

from layout import Layout
from schedule import Pipeline
from stages import Batches, build_stage
from transfer import exchange_statistics

log = logging.getLogger("train")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pp", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--microbatches", type=int, default=4)
    parser.add_argument("--balance-every", type=int, default=3)
    parser.add_argument("--log-every", type=int, default=2)
    return parser.parse_args()


def reduce_gradients(stage, layout):
    for parameter in stage.parameters():
        dist.all_reduce(parameter.grad, group=layout.dp_group)
        parameter.grad /= layout.dp


def report(step, loss, layout):
    """The last stage knows the loss; everyone in the pipeline logs it."""
    last = layout.replica * layout.pp + layout.pp - 1
    dist.broadcast(loss, src=last, group=layout.pp_group)
    log.info("step %d loss %.5f", step, loss.item())


def train(args, layout):
    torch.manual_seed(layout.stage)
    stage = build_stage(layout)
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.1)
    pipeline = Pipeline(stage, layout, args.microbatches, nn.functional.mse_loss)
    for step in range(1, args.steps + 1):
        optimizer.zero_grad(set_to_none=True)
        loss = pipeline.run(Batches(step, layout.replica, args.microbatches))
        reduce_gradients(stage, layout)
        optimizer.step()
        if step % args.log_every == 0:
            report(step, loss, layout)
        if step % args.balance_every == 0:
            times = torch.tensor([float(step), float(layout.stage)])
            exchange_statistics(layout, times)
    dist.barrier()
    log.info("done")


def main():
    args = parse()
    logging.basicConfig(level=logging.INFO, format=f"rank{os.environ['RANK']} %(asctime)s %(message)s")
    layout = Layout(args.pp)
    train(args, layout)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
