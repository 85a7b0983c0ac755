"""What the doctor's tests share: files as text in, findings out."""

from __future__ import annotations

from rankandfile.doctor import Options, examine
from rankandfile.doctor.settings.read import joined, read_bytes
from rankandfile.model.settings import Examination, Finding, Settings

GOOD = {
    "TORCH_FR_BUFFER_SIZE": "2000",
    "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
    "TORCH_FR_DUMP_TEMP_FILE": "/scratch/hangs/812345/nccl_trace_rank_",
    "TORCH_NCCL_DEBUG_INFO_PIPE_FILE": "/tmp/fr_812345_rank_",
    "PYTHONFAULTHANDLER": "1",
    "NCCL_DEBUG": "WARN",
}
"""An environment with nothing to mend, from torch 2.10 on."""


def read(text: str, name: str) -> list[Settings]:
    return read_bytes(text.encode(), name)


def examined(
    text: str, name: str = "job.env", torch: str | None = "2.13", options: Options | None = None, **files: str
) -> Examination:
    """One file, and others of the same job by suffix: ``py="..."``."""
    parts = read(text, name)
    for suffix, more in files.items():
        parts += read(more, f"job.{suffix}")
    return examine(joined(parts), options or Options(), torch)


def environment(
    torch: str | None = "2.13", options: Options | None = None, **changes: str | None
) -> Examination:
    """The good environment with some variables changed, or taken away by None."""
    values = {**GOOD, **changes}
    text = "".join(f"{name}={value}\n" for name, value in values.items() if value is not None)
    return examined(text, torch=torch, options=options)


def wrong(examination: Examination, check: str | None = None) -> list[Finding]:
    return [
        finding
        for finding in examination.findings
        if finding.severity != "ok" and (check is None or finding.check == check)
    ]


def only(examination: Examination, check: str | None = None) -> Finding:
    found = wrong(examination, check)
    assert len(found) == 1, [f"{one.check}: {one.says}" for one in found]
    return found[0]
