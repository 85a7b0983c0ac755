"""What devices and their drivers say."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P2", "oom", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.2 GiB is free.", {"asked": "2.00 GiB", "device": 3, "role": "origin"}),
    Example("P2", "oom", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB", {"asked": "20.00 MiB"}),
    Example("P2", "cuda_error", "torch.AcceleratorError: CUDA error: device-side assert triggered", {"error": "device-side assert triggered"}),
    Example("P2", "cuda_error", "  what():  CUDA error: an illegal memory access was encountered", {"error": "an illegal memory access was encountered", "role": "origin"}),
    Example("P2", "cuda_error", "RuntimeError: CUDA error: an illegal memory access was encountered", {"role": "origin"}),
    Example("P2", "device_assert", "../Indexing.cu:1237: operator(): block: [3,0,0], thread: [64,0,0] Assertion `ind >= 0` failed.", {"block": "3,0,0", "assertion": "`ind >= 0`"}),
]  # fmt: skip

MACHINE = [
    Example("K5", "xid", "[81234.567999] NVRM: Xid (PCI:0000:9d:00): 79, pid=4242, name=python3, GPU has fallen off the bus.", {"bus": "0000:9d:00", "code": 79, "pid": 4242, "error": "GPU has fallen off the bus."}),
    Example("K5", "xid", "Feb  7 08:41:09 node07 kernel: NVRM: Xid (PCI:0000:9d:00): 119, pid='<unknown>', name=<unknown>, Timeout after 6s of waiting for RPC response from GPU2 GSP!", {"code": 119, "host": "node07", "time_quality": "no_year", "error": "Timeout after 6s of waiting for RPC response from GPU2 GSP!"}),
    Example("K5", "xid", "2026-02-07T08:41:09+0100 node07 kernel: NVRM: Xid (PCI:0000:9d:00): 48, An uncorrectable double bit error", {"code": 48, "host": "node07", "time_quality": "zoned"}),
    Example("K5", "gpu_lost", "[81234.567999] NVRM: GPU 0000:9d:00.0: GPU has fallen off the bus.", {"bus": "0000:9d:00.0", "error": "fallen off the bus"}),
    Example("P8", "gpu_kernel", "*      0      -   2  9140 Active 0x000000000000001f (5,1,1) (256,1,1) scan_bwd<Traits<256>>(Params)", {"kernel": "scan_bwd", "device": 2, "grid": 9140}),
    Example("K7", "gpu_hang", "HW Exception by GPU node-4 (Agent handle: 0x55d0c3a1b7e0) reason :GPU Hang", {"node": 4, "error": "GPU Hang"}),
]  # fmt: skip


class TestAccelerator(ShapeTests):
    examples = EXAMPLES
    machine = MACHINE
