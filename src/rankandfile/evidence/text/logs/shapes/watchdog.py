"""Torch's watchdog: a collective that did not end in time, as far as this process can tell.

All of it is a messenger's word. The exception is a device error that the watchdog met instead of a timeout: that is
this process's own GPU.
"""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.blocks import asked_for, issued_from
from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 10

_WORK = (
    r"Work\w+\(SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+)(?:, TensorShape=\[(?P<sizes>.*?)\])?"
    r"(?:, NumelIn=(?P<size_in>\d+), NumelOut=(?P<size_out>\d+))?, Timeout\(ms\)=(?P<timeout_ms>\d+)\)"
)
_DEVICE = re.compile(r"(?:CUDA|HIP|NPU|XPU) error|device-side assert|Cuda failure")
_RETOLD = re.compile(r"what\(\):|exception:|reason for failure|Error:|\bError\b.*:")


def _retold(event: Event, context: Context) -> None:
    """In ``what():``, in an exception and as the reason of another line, it is the same event once more."""
    if _RETOLD.search(context.before_match):
        event.role = "echo"


def _caught(event: Event, context: Context) -> None:
    _retold(event, context)
    asked_for(event, context)


def _ended(event: Event, context: Context) -> None:
    reason = str(event.fields.get("error", ""))
    if _DEVICE.search(reason):
        event.kind, event.role = "watchdog_device_error", "origin"
        if "driver shutting down" in reason:
            event.kind, event.role = "watchdog_shutdown", "echo"
    if "what():" in context.before_match:
        event.role = "echo"


SHAPES = (
    Shape(
        "watchdog_timeout", "W1", "messenger",
        ("Watchdog caught", "collective operation timeout", "before timing out", ", OpType="),
        rf"Watchdog caught collective operation timeout: {_WORK} ran for (?P<waited_ms>\d+)",
        then=_caught,
    ),
    Shape(
        "watchdog_progress", "W2", "messenger",
        ("last completed work", "last completed NCCL", "last enqueued work", "last enqueued NCCL",
         "Timeout at NCCL work", "detected by watchdog"),
        r"(?:at work(?: sequence id)?|NCCL work): (?P<seq>\d+)\b.{0,120}?last enqueued (?:\w*CC?L )?work: (?P<enqueued>-?\d+), last completed (?:\w*CC?L )?work: (?P<completed>-?\d+)",
    ),
    Shape(
        "watchdog_epilogue", "W3", "echo", "have failed or timed out",
        r"Some \w+ operations have failed or timed out",
    ),
    Shape(
        "watchdog_epilogue", "W3", "echo", "taking the entire process down",
        r"we are taking the entire process down",
    ),
    Shape(
        "watchdog_ended", "W4", "echo", "watchdog thread terminated",
        r"watchdog thread terminated with exception: (?P<error>(?:(?!Watchdog caught).)*)",
        then=_ended,
    ),
    Shape(
        "communicator_aborted", "W5", "echo", "communicator was aborted",
        r"communicator was aborted(?: on rank (?P<group_rank>\d+))?",
    ),
    Shape(
        "nccl_async_error", "W6", "messenger", ("following async exception", "found async exception"),
        rf"{_WORK} (?:raised the following|found) async exception(?: when checking for \w+ errors)?: (?P<error>.*)",
    ),
    Shape(
        "nccl_async_error", "W6", "messenger", "found async exception",
        r"(?:found|raised the following) async exception(?: when checking for \w+ errors)?: (?P<error>.*)",
    ),
    Shape(
        "failed_stack_missing", "W7", "fact", "failed collective not found",
        r"Stack trace of the failed collective not found",
    ),
    Shape(
        "failed_stack", "W7", "fact", "Stack trace of the failed",
        r"Stack trace of the failed collective",
        then=issued_from,
    ),
    Shape(
        "blocking_wait_timeout", "W8", "messenger", "timed out in blocking wait",
        rf"(?:Work {_WORK} )?timed out in blocking wait",
    ),
    Shape(
        "remote_error", "W9", "messenger", "remote error detected from",
        r"remote error detected from rank: (?P<about>\d+)",
        about_in="group",
    ),
    Shape(
        "terminate_unjoined", "W10", "fact", "terminate called without",
        r"terminate called without an active exception",
    ),
    Shape(
        "terminate", "W10", "echo", "terminate called after throwing",
        r"terminate called after throwing an instance of '(?P<exception>[^']*)'",
    ),
)  # fmt: skip
