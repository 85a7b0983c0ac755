"""Pre-train a small tensor-parallel language model."""

import logging
import os

import torch
from torch.nn import functional as F

import checkpoint
import settings
from corpus import Corpus
from gradients import average_gradients, clip, gradient_norm
from layers import LanguageModel
from layout import Layout
from report import LossReport

log = logging.getLogger("train")


def train(args, layout):
    torch.manual_seed(args.seed + layout.tp_rank)
    model = LanguageModel(args, layout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    corpus, report = Corpus(args, layout), LossReport(layout)
    for step in range(1, args.steps + 1):
        optimizer.zero_grad(set_to_none=True)
        for _ in range(args.accumulate):
            tokens, targets = corpus.next_batch()
            logits = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten()) / args.accumulate
            loss.backward()
            report.add(loss.item() * args.accumulate)
        average_gradients(model, layout)
        norm = gradient_norm(model, layout)
        clip(model, norm, limit=1.0)
        optimizer.step()
        if step % args.log_every == 0:
            report.flush(step)
        if step % args.save_every == 0:
            checkpoint.save(step, model, optimizer, layout)
    log.info("done after %d steps", args.steps)


def main():
    args = settings.parse()
    logging.basicConfig(
        level=logging.INFO, format=f"%(asctime)s [{os.environ['RANK']}] %(levelname)s %(name)s: %(message)s"
    )
    layout = Layout(args.dp, args.tp)
    train(args, layout)
    layout.close()


if __name__ == "__main__":
    main()
