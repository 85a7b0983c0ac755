"""Which files belong to a framework: neither the user's program nor torch, but what runs the user's functions.

What else is installed is taken for the user's own: programs are installed too.
"""

from __future__ import annotations

import re

_NAMES = """
    absl accelerate apex bitsandbytes catalyst click colossalai composer datasets decorator deepspeed diffusers
    fairscale fairseq2 fastai fire fsspec horovod hydra ignite lightning lightning_fabric lightning_utilities
    litdata megatron monai mmengine nemo numba numpy omegaconf pandas peft pydantic pytorch_lightning ray rich
    safetensors sentence_transformers setfit speechbrain streaming tenacity tensorboard tensordict timm
    tokenizers torch_geometric torchao torchaudio torchdata torchmetrics torchrec torchtext torchtitan torchtune
    torchvision tqdm transformers trl typeguard typer wandb wrapt
"""
_FRAMEWORKS = frozenset(_NAMES.split())
_PACKAGE = re.compile(r"(?:^|[/\\])(?:site|dist)-packages[/\\](\w+)")


def framework_of(file: str) -> str | None:
    """The framework's package, of a file as a process or a tree names it; None for everybody else's file."""
    match = _PACKAGE.search(file)
    return match[1] if match is not None and match[1] in _FRAMEWORKS else None
