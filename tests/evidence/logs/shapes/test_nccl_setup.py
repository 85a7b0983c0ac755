"""What NCCL writes while it sets up."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

MACHINE = [
    Example("N8", "cuda_failure", "node07:4242:4310 [3] enqueue.cc:99 NCCL WARN Cuda failure 700 'an illegal memory access was encountered'", {"code": 700, "role": "origin"}),
    Example("N8", "duplicate_gpu", "node07:4242:4310 [1] NCCL WARN Duplicate GPU detected : rank 1 and rank 5 both on CUDA device 9d000", {"about": [1, 5], "about_in": "group"}),
    Example("N8", "bootstrap_mismatch", "node07:4242:4310 [1] NCCL WARN Bootstrap Root : mismatch in rank count from procs 16 : 8", {"expected": 16, "got": 8}),
    Example("N8", "bootstrap_duplicate", "node07:4242:4310 [1] NCCL WARN Bootstrap Root : rank 3 of 8 ranks has already checked in", {"about": [3]}),
    Example("N8", "nccl_versions_differ", "node07:4242:4310 [0] init.cc:938 NCCL WARN Mismatched NCCL version detected : rank 2 version 22501 rank 0 version 22704", {"one": 2, "version_of_one": 22501, "other": 0, "version_of_other": 22704}),
    Example("N9", "nccl_error", "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3357, remote process exited or there was a network error, NCCL version 2.27.3", {"error": "remote process exited or there was a network error", "version": "2.27.3", "role": "echo"}),
    Example("N9", "nccl_remote_error", "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.", {"role": "echo"}),
    Example("N9", "nccl_unhandled_cuda", "ncclUnhandledCudaError: Call to CUDA function failed.", {"role": "origin"}),
]  # fmt: skip


class TestNcclSetup(ShapeTests):
    machine = MACHINE
