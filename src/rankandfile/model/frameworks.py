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
#: Other packages that many programs use. A program's own folder has no such name: where a tool leaves the folder out in
#: which a package is installed, as py-spy does, its name tells.
_OTHERS = """
    aiohttp av azure bitsandbytes boto3 botocore cv2 dask decord detectron2 einops faiss filelock flash_attn google grpc
    h5py httpcore httpx huggingface_hub imageio jax jaxlib joblib kornia librosa lmdb matplotlib mlflow mmcv mpi4py nltk
    open_clip opencv pandas PIL polars psutil pyarrow pycocotools redis requests s3fs gcsfs sacrebleu scipy sentencepiece
    sglang skimage sklearn soundfile spacy tensorboardX tensorflow tensorstore tiktoken torch_xla triton urllib3 vllm
    webdataset xformers xgboost lightgbm yaml zarr zmq
"""
#: What a program calls a folder of its own.
_COMMON = frozenset("click composer datasets decorator diffusers fire hydra ignite rich streaming".split())
_SHORT = (_FRAMEWORKS | frozenset(_OTHERS.split())) - _COMMON
_PACKAGE = re.compile(r"(?:^|[/\\])(?:site|dist)-packages[/\\](\w+)")


def is_short_library(file: str) -> bool:
    """Whether a file that is named without the folder where it lies (`accelerate/state.py`) is of a known package."""
    first, slash, _ = file.partition("/")
    return bool(slash) and first in _SHORT


def framework_of(file: str) -> str | None:
    """The framework's package, of a file as a process or a tree names it; None for everybody else's file."""
    match = _PACKAGE.search(file)
    return match[1] if match is not None and match[1] in _FRAMEWORKS else None
