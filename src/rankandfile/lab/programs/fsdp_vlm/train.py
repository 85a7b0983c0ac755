"""Fine-tune the vision-language model, sharded with FSDP2."""

import argparse
import logging
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn import functional as F

from export import export
from generation import generate
from model import VisionLanguageModel
from samples import Samples
from sharding import full, shard

log = logging.getLogger("train")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--log-every", type=int, default=4)
    parser.add_argument("--sample-every", type=int, default=8)
    parser.add_argument("--export-every", type=int, default=12)
    return parser.parse_args()


def train_step(model, optimizer, batch):
    optimizer.zero_grad(set_to_none=True)
    logits = model(batch["tokens"], batch["patches"])
    loss = F.cross_entropy(logits.flatten(0, 1), batch["targets"].flatten())
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item(), norm


def global_mean(value):
    tensor = torch.tensor([value])
    dist.all_reduce(tensor)
    return tensor.item() / dist.get_world_size()


def show_sample(model, batch, step):
    tokens = generate(model, batch["tokens"][:1, :4], batch["patches"][:1], length=5)
    log.info("step %d sample %s", step, tokens[0].tolist())


def train(args):
    torch.manual_seed(11)
    model = VisionLanguageModel()
    shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    samples = Samples(dist.get_rank())
    for step in range(1, args.steps + 1):
        batch = next(samples)
        loss, norm = train_step(model, optimizer, batch)
        if step % args.log_every == 0:
            log.info("step %d loss %.4f norm %.3f", step, global_mean(loss), full(norm).item())
        if step % args.sample_every == 0:
            show_sample(model, batch, step)
        if step % args.export_every == 0:
            export(model, step)
    log.info("finished")


def main():
    args = parse()
    rank = os.environ["RANK"]
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(asctime)s %(levelname)s %(message)s")
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    train(args)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
