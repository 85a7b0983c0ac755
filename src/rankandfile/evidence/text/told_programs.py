"""Other programs than torch that the lines of a log speak of: `vLLM API server` tells of an inference engine."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: MPI's launcher starts programs of torch as well; then the lines speak of those.
_MPI = "MPI"
_TORCHISH = re.compile(r"torch|nccl|deepspeed|horovod|\bjax\b|tensorflow|[xh]ccl\b")

#: What runs the job, by words of its first lines that no other program has.
_PATTERNS = (
    ("JAX", re.compile(r"\bjax(?:lib)?\b|\bxla_bridge\b|\bXLA service\b")),
    ("vLLM", re.compile(r"\bvLLM API server\b|\bvLLM\b.{0,20}engine|\bVLLM::")),
    ("SGLang", re.compile(r"\bsglang\b|=ServerArgs\(")),
    ("Horovod", re.compile(r"\b[Hh]orovod(?:run)?\b")),
    ("XCCL", re.compile(r"\bxccl\b|\|CCL_[A-Z]{4,5}\||\bdevice='xpu'|\boneccl\b")),
    ("HCCL", re.compile(r"\btorch_npu\b|\bH[Cc][Cc][Ll]\b|\bhccl\b")),
    ("MPI", re.compile(r"\bmpi4py\b|\bMPI_(?:ERR_|Abort)")),
    (
        _MPI,
        re.compile(
            r"^\$? ?(?:mpirun|mpiexec|mpiexec\.hydra|prterun|orterun)\b|\b(?:PRTE|ORTE|prterun|orterun)\b|\bOpen MPI\b"
        ),
    ),
)
#: The same of `_PATTERNS`.
_WORDS = (
    "jax", "xla", "vllm", "sglang", "=serverargs(", "horovod", "hccl", "xccl", "oneccl", "|ccl_", "xpu", "torch_npu",
    "mpi", "prte", "orte",
)  # fmt: skip


def programs_in(written: str, bodies: Iterable[str]) -> set[str]:
    """The names of those that the lines speak of; `written` is all of them in small letters."""
    if not any(word in written for word in _WORDS):
        return set()
    torchish = _TORCHISH.search(written)
    return {
        name
        for body in bodies
        for name, pattern in _PATTERNS
        if not (name == _MPI and torchish) and pattern.search(body)
    }
