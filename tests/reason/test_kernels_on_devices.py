"""What a debugger of devices shows of each rank's: who is not in the collective's kernel has not come to it."""

# ruff: noqa: E501 - lines of a debugger are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile import diagnose
from rankandfile.model.diagnosis import Verdict

HEAD = "  Kernel Parent Dev Grid Status                           SMs Mask GridDim  BlockDim Invocation \n"
REDUCES = "*      0      -   {n}  77{n} Active 0x0000000000000000000000000ffffff (24,1,1) (544,1,1) ncclDevKernel_{what}(ncclDevKernelArgsStorage<4096ul>) \n"
OWN = "*      0      -   {n}  77{n} Active 0x000000000000000000000000000001f (5,1,1) (256,1,1) {kernel}(Params) \n"
HOST = """#0  0x00007f227fcfe4d2 in ?? () from /lib/x86_64-linux-gnu/libcuda.so.1
#1  0x00007f227fd30f57 in cuStreamSynchronize () from /lib/x86_64-linux-gnu/libcuda.so.1
#2  0x00007f22631b2a10 in at::native::_local_scalar_dense_cuda(at::Tensor const&) () from /opt/lib/libtorch_cuda.so
[Inferior 1 (process 881{n}) detached]
"""


def said_of(folder: Path, kernels: list[str]) -> Verdict:
    for n, line in enumerate(kernels):
        text = f"$ cuda-gdb -p 881{n} -batch -ex 'info cuda kernels' -ex bt\n{HEAD}{line.format(n=n)}{HOST.format(n=n)}"
        (folder / f"rank{n}.txt").write_text(text)
    return diagnose(folder).verdicts[0]


@pytest.mark.parametrize(
    ("what", "kernel"),
    [("AllGather_RING_LL", "void ring_attn_fwd<128>"), ("ReduceScatter_Sum_f32_RING_SIMPLE", "spin_until")],
)
def test_who_runs_a_kernel_of_its_own_while_all_others_reduce_is_suspected(
    tmp_path: Path, what: str, kernel: str
) -> None:
    of_all = (
        [REDUCES.replace("{what}", what)] * 2
        + [OWN.replace("{kernel}", kernel)]
        + [REDUCES.replace("{what}", what)]
    )
    verdict = said_of(tmp_path, of_all)
    assert (verdict.cause, [one.rank for one in verdict.suspects]) == ("gpu_stuck", [2])
    assert not verdict.culprits and verdict.hang is None
    assert kernel.removeprefix("void ").partition("<")[0] in verdict.sentence


@pytest.mark.parametrize("own", [0, 2, 4])
def test_nobody_is_suspected_where_no_few_stand_against_the_rest(tmp_path: Path, own: int) -> None:
    """All reduce, all compute, or as many as do not: none of them is the odd one."""
    of_all = [OWN.replace("{kernel}", "gemm_bf16")] * own + [REDUCES.replace("{what}", "AllReduce")] * (
        4 - own
    )
    verdict = said_of(tmp_path, of_all)
    assert verdict.cause != "gpu_stuck" and not verdict.culprits and not verdict.suspects
