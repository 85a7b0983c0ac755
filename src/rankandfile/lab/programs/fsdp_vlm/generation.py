"""Greedy decoding, to see samples while training."""

import torch


@torch.no_grad()
def generate(model, prompt, patches, length):
    tokens = prompt
    for _ in range(length):
        logits = model(tokens, patches)
        following = logits[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    return tokens
