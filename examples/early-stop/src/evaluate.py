"""Validation over all ranks' shards."""

import torch

import parallel


@torch.no_grad()
def evaluate(model, loader, loss_fn):
    model.eval()
    loss, correct, seen = 0.0, 0, 0
    for tokens, labels in loader:
        logits = model.module(tokens)
        loss += loss_fn(logits, labels).item() * len(labels)
        correct += (logits.argmax(dim=1) == labels).sum().item()
        seen += len(labels)
    model.train()
    local = {"loss": loss / seen}
    loss, correct, seen = parallel.reduce_sum([loss, correct, seen])
    return {"loss": loss / seen, "accuracy": correct / seen, "local_loss": local["loss"]}
