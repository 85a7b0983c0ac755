"""Local SGD: many local steps, few averages."""

import argparse
import logging
import os
from datetime import timedelta

import torch.distributed as dist

import inventory
from worker import Worker

log = logging.getLogger("local_sgd")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--local-steps", type=int, default=4)
    parser.add_argument("--census-every", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=600.0)
    return parser.parse_args()


def prepare(args):
    """Read what the worker needs before it meets the others."""
    return args


def connect(args):
    dist.init_process_group("gloo", timeout=timedelta(seconds=args.timeout))


def train(args):
    worker = Worker(dist.get_rank(), args.local_steps)
    for number in range(1, args.rounds + 1):
        worker.round()
        if number % args.census_every == 0:
            census(worker, number)
    return worker


def census(worker, number):
    statistics = {"distance": worker.distance(), "draws": worker.problem.draws}
    totals = inventory.total(statistics)
    owner = inventory.best_worker(worker.distance())
    worker.point = inventory.adopt(worker.point, owner)
    log.info("round %d totals %s, best worker %d", number, totals, owner)


def finish(worker):
    log.info("distance %.4f", worker.distance())
    dist.barrier()
    dist.destroy_process_group()
    log.info("finished")


def main():
    args = parse()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [worker {os.environ['RANK']}] %(message)s")
    args = prepare(args)
    connect(args)
    worker = train(args)
    finish(worker)


if __name__ == "__main__":
    main()
