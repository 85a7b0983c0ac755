"""Its own device failed: an error of CUDA that its process met, or an Xid of its GPU. No timeout is implied."""

from __future__ import annotations

from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import AskedRank, Facts, Story, location_of

CAUSE = Cause(
    word="gpu_error",
    family="device",
    place=20,
    meaning="A device failed.",
    help="The collective cannot go on without it. Read the device's own error first: Xid lines of the "
    "kernel log, the CUDA error of the rank.",
    remedies=(
        Remedy(
            title="Read the device's own error first",
            text="Application faults (illegal access, assert) need CUDA_LAUNCH_BLOCKING=1 on that rank to find the "
            "line (AMD_SERIALIZE_KERNEL=3 on ROCm); what the driver or the hardware reports needs the device taken "
            "out of the job.",
        ),
    ),
    anti_advice=(
        "Do not leave CUDA_LAUNCH_BLOCKING=1 set: it finds the line, and makes every later run slower.",
    ),
    did="failed on the GPU",
    title="A device failed",
    page="""
## How it comes about

The kernel's log has an Xid line, or the rank's log a CUDA error. Everybody else only sees that the collective does not
end. Xid 48, 79, 94 and 95 are hardware; an illegal access is the program's.
""",
    scenario="gpu-error-xid79",
)


@teller(precedence=20, joined=20)
def its_device_failed(facts: Facts, asked: AskedRank) -> Story | None:
    error = facts.accounts.device.get(asked.rank)
    if error is None:
        return None
    raised = facts.accounts.raised.get(asked.rank)
    return Story(
        cause=CAUSE.word,
        # The process and the kernel say the same, each on its own.
        confidence="established" if len(error.evidence) > 1 else "supported",
        doing=f"its device failed: {error.words}",
        evidence=error.evidence,
        location=location_of(error.place or (raised.place if raised is not None else None)),
    )
