"""Advice that several causes give."""

from __future__ import annotations

from .diagnosis import Probe, Remedy

AGREE = Remedy(
    title="Let all ranks take the same way",
    text="The condition that leads to the call must come out the same on every rank. Reduce it first (MAX for "
    "'any rank', MIN for 'all ranks') and branch on the result, or move the collective out of the branch.",
)
FLAG = Remedy(
    title="Let failures be common knowledge",
    text="Where a rank may fail, skip or stop alone, reduce a flag at that point and act on it together.",
)

OUT_OF_STEP = "Do not raise the timeout: ranks that are out of step stay out of step."
NEVER_MATCHES = "Do not raise the timeout: the call can never match."
FIRST_LOGGER = "Do not blame the rank that logged the timeout first: it only waited."
DISABLE = "Do not set NCCL_IB_DISABLE or NCCL_P2P_DISABLE as a cure: it hides the link at fault."
MONITORING = "Do not set TORCH_NCCL_ENABLE_MONITORING=0: it removes the kill, not the wait."

STACKS = Probe(
    title="Stacks of the ranks that are waited for",
    text="py-spy dump --pid PID on the host of each, twice, some seconds apart: frozen or moving?",
)
