"""Train a small network on a mesh of replicas, pipeline stages and shards."""

import logging
import os

import torch

import gradients
import settings
from data import MicroBatches
from layout import Layout
from metrics import Metrics
from schedule import Schedule
from stage import Stage
from transfer import Link

log = logging.getLogger("train")


def train(args, layout):
    torch.manual_seed(args.seed + 10 * layout.stage + layout.shard)
    stage = Stage(args.width, layout)
    optimizer = torch.optim.SGD(stage.parameters(), lr=0.2)
    link = Link(layout, (args.samples, args.width))
    schedule, metrics = Schedule(stage, link, layout), Metrics(layout)
    for step in range(1, args.steps + 1):
        optimizer.zero_grad(set_to_none=True)
        loss = schedule.run(MicroBatches(args, layout, step))
        gradients.average(stage, layout)
        size = gradients.norm(stage, layout)
        gradients.clip(stage, size)
        optimizer.step()
        metrics.add(loss, size)
        if step % args.log_every == 0:
            metrics.report(step)
    log.info("done after %d steps", args.steps)


def main():
    args = settings.parse()
    rank = os.environ["RANK"]
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {rank} %(name)s: %(message)s")
    layout = Layout(args.dp, args.pp, args.tp)
    log.info("replica %d, stage %d, shard %d", layout.replica, layout.stage, layout.shard)
    train(args, layout)
    layout.close()


if __name__ == "__main__":
    main()
