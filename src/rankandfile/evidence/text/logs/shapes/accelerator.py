"""Faults of GPUs: Xid, ROCm, and CUDA errors as Python words them."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 140


#: Xids that NVIDIA lists as information: a row of memory remapped, single-bit errors, a limit of wear, a corrected
#: error of a link, and what is to be done about an earlier one.
_INFORMATION = frozenset((63, 92, 93, 121, 154))

#: The driver cleans up behind a process that ended, or behind an error before.
_AFTERWARDS = frozenset((45,))


def _process(event: Event, _context: Context) -> None:
    """The process on the GPU, where the driver knew it; some drivers write `<unknown>`."""
    if event.fields.get("code") in _INFORMATION:
        event.kind, event.role = "xid_information", "fact"
    if event.fields.get("code") in _AFTERWARDS:
        event.role = "echo"
    process = event.fields.pop("process", None)
    event.pid = process if isinstance(process, int) else None


_BUS = re.compile(r"GPU (?P<bus>[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F.]{2,4})")


def _bus_above(event: Event, context: Context) -> None:
    """The driver may say in the lines above which device it means."""
    for bare in context.preceding(3) if "bus" not in event.fields else ():
        if match := _BUS.search(bare.body):
            event.fields["bus"] = match["bus"]
            return


SHAPES = (
    Shape(
        "xid", "K5", "origin", "NVRM: Xid",
        r"NVRM: Xid \((?:PCI:)?(?P<bus>[0-9a-fA-F:.]+)\): (?P<code>\d+)(?:, pid='?<?(?P<process>\w+)>?'?)?(?:, name=(?P<name>[^,]+))?,?\s*(?P<error>.*)",
        then=_process,
    ),
    Shape(
        "gpu_lost", "K5", "origin", ("fallen off the bus",),
        r"(?:GPU (?P<bus>[0-9a-fA-F]+:[0-9a-fA-F:.]+): .*?)?(?P<error>fallen off the bus)",
        then=_bus_above,
    ),
    # cuda-gdb's `info cuda kernels`: what runs on the device of the process that it looks into.
    Shape(
        "gpu_kernel", "P8", "fact", " Active 0x",
        r"^\*?\s*\d+ (?:-|\d+) (?P<device>\d+) (?P<grid>\d+) Active 0x[0-9a-fA-F]{1,64} \([\d,]{5,40}\) \([\d,]{5,40}\) (?:void )?(?P<kernel>[\w:~]{1,200})",
    ),
    Shape(
        "gpu_hang", "K7", "origin", ("HSA_STATUS_ERROR_", "Memory access fault by GPU"),
        r"(?P<error>HSA_STATUS_ERROR_\w+(?:: [^.]*)?|Memory access fault by GPU node-\d+)",
    ),
    Shape(
        "gpu_hang", "K7", "origin", "HW Exception by GPU",
        r"HW Exception by GPU node-(?P<node>\d+).*?reason\s*:\s*(?P<error>.*)",
    ),
    Shape(
        "npu_fault", "P2", "origin",
        ("multi-bit ECC error", "MULTI BIT ECC ERROR", "DEVICE MEM ERROR", "error code is 5070", "error code:5070"),
        r"(?P<error>(?:HBM |Hbm )?(?:MULTI BIT|[Mm]ulti-bit) ECC (?:ERROR|error)|(?:UCE|DEVICE MEM) ERROR"
        r"|(?:NPU function error: .{0,120}?)?error code(?: is|:) ?(?P<code>5070(?:1[0-9]|34|5[0-9])))\b",
    ),
    Shape(
        "oom", "P2", "origin", "out of memory. Tried to allocate",
        r"(?:CUDA|HIP|XPU) out of memory\. Tried to allocate (?P<asked>[\d.]+ \w+)(?:.*?GPU (?P<device>\d+))?",
    ),
    Shape(
        "device_assert", "P2", "origin", ("Assertion ", "], thread: ["),
        r"block: \[(?P<block>[\d,]+)\], thread: \[(?P<thread>[\d,]+)\] Assertion (?P<assertion>.*?) failed",
    ),
    Shape(
        "cuda_error", "P2", "origin", ("CUDA error: ", "HIP error: ", "CUBLAS_STATUS_", "CUDNN_STATUS_"),
        r"(?:AcceleratorError: |RuntimeError: |Error: |what\(\):\s{1,8})(?:CUDA|HIP|CUDNN|cuDNN) error: (?P<error>.*)",
    ),
)  # fmt: skip
