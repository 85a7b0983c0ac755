"""Which files belong to a framework: neither the user's program nor torch, but what runs the user's functions, or what
the user's functions or torch's are wrapped in.

What else is installed is taken for the user's own: programs are installed too, though not as one single file.
"""

from __future__ import annotations

import re

_NAMES = """
    absl accelerate apex backoff beartype bitsandbytes cachetools catalyst click colossalai composer datasets
    decorator deepspeed deprecated deprecation diffusers fairscale fairseq2 fastai fire fsspec horovod hydra ignite
    jaxtyping joblib lightning lightning_fabric lightning_utilities litdata megatron mmengine monai nemo numba numpy
    omegaconf pandas peft pydantic pytorch_lightning ray retrying rich safetensors sentence_transformers setfit
    speechbrain stamina streaming tenacity tensorboard tensordict timm tokenizers toolz torch_geometric torchao
    torchaudio torchdata torchmetrics torchrec torchtext torchtitan torchtune torchvision tqdm transformers trl
    typeguard typer typing_extensions wandb wrapt
"""
_FRAMEWORKS = frozenset(_NAMES.split())
_PACKAGE = re.compile(r"(?:^|[/\\])(?:site|dist)-packages[/\\](\w+)(\.py$)?")


def is_of_framework(name: str) -> bool:
    """Of a dotted name, as `transformers.Trainer`."""
    return name.partition(".")[0] in _FRAMEWORKS


def framework_of(file: str) -> str | None:
    """The framework's package, of a file as a process or a tree names it; None for everybody else's file."""
    match = _PACKAGE.search(file)
    return match[1] if match is not None and (match[2] or match[1] in _FRAMEWORKS) else None
