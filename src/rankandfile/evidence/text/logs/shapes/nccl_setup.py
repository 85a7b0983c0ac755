"""NCCL's setup, its device errors, and torch's wrapping of both."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

ORDER = 50

SHAPES = (
    Shape(
        "cuda_failure", "N8", "origin", "Cuda failure ",
        r"Cuda failure (?:(?P<code>\d+) )?'(?P<error>[^']*)'",
    ),
    Shape(
        "duplicate_gpu", "N8", "fact", "Duplicate GPU detected",
        r"Duplicate GPU detected : (?P<about>rank \d+ and rank \d+) both on CUDA device (?P<bus>\S+)",
        about_in="group",
    ),
    Shape(
        "bootstrap_mismatch", "N8", "fact", "mismatch in rank count",
        r"Bootstrap Root : mismatch in rank count from procs (?P<expected>\d+) : (?P<got>\d+)",
    ),
    Shape(
        "bootstrap_duplicate", "N8", "fact", "has already checked in",
        r"Bootstrap Root : rank (?P<about>\d+) of (?P<nranks>\d+) ranks has already checked in",
        about_in="group",
    ),
    Shape(
        "nccl_unhandled_cuda", "N9", "origin", "ncclUnhandledCudaError",
        r"ncclUnhandledCudaError: (?P<error>.*)",
    ),
    Shape("nccl_remote_error", "N9", "echo", "ncclRemoteError:", r"ncclRemoteError: (?P<error>.*)"),
    Shape(
        "nccl_error", "N9", "echo", ("NCCL error in: ", "CCL error in: "),
        r"CCL error in: (?P<where>\S+?), (?P<error>.*?)(?:, NCCL version (?P<version>[\d.]+))?$",
    ),
    Shape(
        # The latter is the writer's own, in the communicator that is being set up.
        "nccl_versions_differ", "N8", "messenger", "ismatched ",
        r"Mismatched [NR]CCL version detected : rank (?P<one>\d+) version (?P<version_of_one>\d+) rank (?P<other>\d+) version (?P<version_of_other>\d+)",
    ),
    Shape(
        "nccl_version", "N1", "fact", "NCCL version ",
        r"^(?:NCCL INFO )?NCCL version (?P<version>\d+\.\d+[\d.]*)\+cuda(?P<cuda>[\d.]+)",
    ),
)  # fmt: skip
