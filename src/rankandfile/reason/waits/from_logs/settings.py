"""The settings that would have given the answer where there is nothing but logs."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.recorder_names import BEFORE, DUMP_FILE, FILE_BEFORE, RING

SETTINGS = (
    Missing(
        what="the calls of every rank",
        how=f"raf attach PID while it hangs; for the next run {RING}=2000 ({BEFORE}), and its dumps",
    ),
    Missing(
        what="dumps that survive the job",
        how=f"{DUMP_FILE}=/shared/JOB/trace_ ({FILE_BEFORE}): one file per rank, on storage that outlives the process",
    ),
)
