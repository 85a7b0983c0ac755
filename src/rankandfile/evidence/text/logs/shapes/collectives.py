"""Torch's own checks on collectives: the desync report, the wrapper's comparison, the monitored barrier."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.blocks import desync_report
from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 30

_PRINT = (
    r"CollectiveFingerPrint\((?:SequenceNumber=(?P<{p}seq>\d+)(?:, )?)?\s*OpType=(?P<{p}op>\w+)"
    r"(?:, TensorShape=\[(?P<{p}sizes>.*?)\], TensorDtypes=(?P<{p}dtype>[^,)]*))?"
)


def _compared(event: Event, context: Context) -> None:
    """A fingerprint without the comma, or without tensors, was read from a barrier: what it says of the peer is wrong."""
    event.about_in = "group"
    if context.bare.rank is None:
        event.fields["writer"] = event.group_rank
    if "peer_dtype" not in event.fields or "sizes" not in event.fields:
        event.kind, event.shape = "wrapper_malformed", "D3"
        for name in ("peer_seq", "peer_op", "peer_sizes", "peer_dtype"):
            event.fields.pop(name, None)


SHAPES = (
    Shape(
        "nccl_call", "N2", "fact", "collective_name: ",
        r"collective_name: (?P<op>[\w.]+), inNelems: (?P<size_in>\d+), outNelems: (?P<size_out>\d+), dType: (?P<datatype>\w+)(?:, root/src rank: (?P<root>-?\d+))?(?:.*?worldSize: (?P<comm>\d+))?",
    ),
    Shape(
        "wrapper_mismatch", "D2", "messenger", ("CollectiveFingerPrint(", "mismatch between collectives"),
        r"Rank (?P<group_rank>\d+) is running collective: "
        + _PRINT.format(p="")
        + r".*?but Rank (?P<about>\d+) is running collective: "
        + _PRINT.format(p="peer_")
        + r"(?:.*?Collectives differ in the following aspects:\s*(?P<aspects>.*))?",
        about_in="group", then=_compared,
    ),
    Shape(
        "monitored_barrier", "D4", "messenger", "pass monitoredBarrier",
        r"(?:\[Rank (?P<group_rank>\d+)\]: )?Ranks? (?P<about>\d+(?:, \d+)*) failed to pass monitoredBarrier(?: in (?P<timeout_ms>\d+) ms)?",
        about_in="group",
    ),
    Shape(
        "monitored_barrier_error", "D4", "messenger", "reached monitoredBarrier",
        r"Rank (?P<group_rank>\d+) successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank (?P<about>\d+)",
        about_in="group",
    ),
    Shape(
        "desync_report", "D1", "messenger",
        ("Timeout at collective: ", "caused the desync are", "lagging ranks that caused"),
        r"(?:\[(?P<group_rank>\d+)\] Timeout at collective: (?P<op>\w+), #(?P<number>\d+)|ranks \[(?P<about>[\d, ]+)\] are the lagging ranks)",
        about_in="group", then=desync_report,
    ),
    Shape("desync_failed", "D1", "echo", "kEventStart", r"INTERNAL ASSERT.*?kEventStart"),
)  # fmt: skip
