"""Packages that people install and do not write: their names, as they stand below site-packages.

Not those that are cloned, changed and run in place, as Megatron-LM is: their lines are the program's own.
"""

from __future__ import annotations

import re

_NAMES = """
    torch torchvision torchaudio torchdata torchgen torchtune torchrec torchelastic torchcomms
    functorch triton numpy scipy pandas polars pyarrow transformers accelerate peft trl diffusers tokenizers
    safetensors huggingface_hub deepspeed apex flash_attn xformers vllm sglang ray lightning
    pytorch_lightning lightning_fabric lightning_utilities webdataset fairscale fsspec s3fs gcsfs boto3
    botocore aiohttp requests urllib3 httpx httpcore grpc google wandb mlflow tensorboard tensorboardX
    neptune comet_ml clearml hydra omegaconf typer tqdm loguru yaml msgspec pydantic zmq redis h5py zarr PIL
    cv2 decord av nvidia cupy numba jax flax optax monarch py_spy debugpy pytest _pytest pluggy setuptools
    pkg_resources pip filelock joblib sklearn einops timm open_clip mosaicml colossalai horovod bitsandbytes
    unsloth psutil gevent greenlet uvloop asyncio ignite nemo transformer_engine jaxlib orbax
    tensorstore chex haiku equinox mpi4py torch_npu torch_xla torchmetrics mindspore
    intel_extension_for_pytorch oneccl_bindings_for_pytorch tensorflow keras paddle fastapi uvicorn
    starlette anyio certifi portalocker litdata lmdb soundfile librosa imageio netCDF4 xarray dask pymongo
    psycopg2 sqlalchemy paramiko tenacity sentencepiece tiktoken pyspy dill cloudpickle flashinfer outlines
    xgrammar azure bitsandbytes detectron2 faiss kornia lightgbm matplotlib mmcv nltk open_clip pycocotools sacrebleu
    skimage spacy xgboost
"""
PACKAGES = frozenset(_NAMES.split())

_FIRST = re.compile(r"([A-Za-z_]\w*)[/\\]")


def is_installed(file: str) -> bool:
    """A path that begins with such a package, as py-spy shortens those of installed files."""
    match = _FIRST.match(file)
    return match is not None and match[1] in PACKAGES
