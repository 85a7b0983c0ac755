"""The settings that would have given the answer where there is nothing but logs."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.known.recorder_names import BEFORE, RING

SETTINGS = (
    Missing(
        what="the calls of every rank",
        how=f"raf attach PID while it hangs; for the next run {RING}=2000 ({BEFORE}), and its dumps",
    ),
    Missing(
        what="dumps that survive the job",
        how="TORCH_FR_DUMP_TEMP_FILE=/shared/JOB/trace_ (TORCH_NCCL_DEBUG_INFO_TEMP_FILE before torch 2.8): one file "
        "per rank, on storage that outlives the process",
    ),
)
