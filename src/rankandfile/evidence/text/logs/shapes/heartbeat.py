"""Torch's heartbeat monitor, the dump signal and what becomes of the dump."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 20


def _signalled(event: Event, _context: Context) -> None:
    """`this local rank` is the writer; a rank is the last writer of a key in the store."""
    event.fields["from_self"] = event.about is None


SHAPES = (
    Shape(
        "heartbeat_stuck", "H1", "messenger", "watchdog got stuck",
        r"watchdog got stuck for (?P<waited_s>\d+)\s*seconds",
    ),
    Shape(
        "heartbeat_stuck", "H1", "messenger", ("Heartbeat monitor timed out", "monitor thread timeout"),
        r"(?:Heartbeat monitor timed out|monitor thread timeout)(?:.*?workMetaList_?\.size\(\)=(?P<outstanding>\d+))?",
    ),
    Shape(
        "monitor_disabled", "H2", "fact", "monitor thread is disabled",
        r"monitor thread is disabled, but would have (?:terminated|killed) the process\s*after attempting to dump debug info, due to (?P<reason>.*)",
    ),
    Shape(
        "monitor_kill", "H2", "echo", "Terminating the process after",
        r"Terminating the process after attempting to dump debug info, due to (?P<reason>.*)",
    ),
    Shape(
        "dump_signal_first", "H3", "messenger",
        ("First PG on this rank to signal", "First watchdog to set the dump signal"),
        r"First (?:PG on this rank to signal dumping|watchdog to set the dump signal)",
    ),
    Shape(
        "dump_signal_first", "H3", "messenger", "recorder dump signal",
        r"Broadcasting flight[- ]recorder dump signal",
    ),
    Shape(
        "dump_signal_observed", "H3", "echo", ("dump signal from another rank", "dump signal from another"),
        r"Observed flight[- ]recorder dump signal from another rank",
    ),
    Shape(
        "dump_signal", "H3", "fact",
        ("Received a dump signal", "Received a timeout signal", "Received a global", "try our best to dump"),
        r"Received a (?:global )?(?:dump|timeout) signal(?: due to (?P<reason>.*?))? from (?:this local rank|rank (?P<about>\d+)).*?(?:[Ll]ast enqueued (?:\w*CC?L )?work: (?P<enqueued>-?\d+), last completed (?:\w*CC?L )?work: (?P<completed>-?\d+))",
        about_in="global", then=_signalled,
    ),
    Shape(
        "dump_signal", "H3", "fact",
        ("Received a dump signal", "Received a timeout signal", "Received a global"),
        r"Received a (?:global )?(?:dump|timeout) signal(?: due to (?P<reason>.*?))? from (?:this local rank|rank (?P<about>\d+))",
        about_in="global", then=_signalled,
    ),
    Shape(
        "dump_signal", "H3", "fact", ("global timeout signal", "a global timeout", "Received a global"),
        r"Received a global timeout(?:.*?[Ll]ast enqueued (?:\w*CC?L )?work: (?P<enqueued>-?\d+), last completed (?:\w*CC?L )?work: (?P<completed>-?\d+))?",
    ),
    Shape(
        "dump_started", "H4", "fact", "preparing to dump debug info",
        r"preparing to dump debug info(?:\. Include stack trace: (?P<stacks>\d))?",
    ),
    Shape(
        "dump_late", "H4", "fact", "flight recorder dumps to finish",
        r"timed out after waiting for (?P<timeout_ms>\d+)\s*ms flight recorder dumps? to finish",
    ),
    Shape(
        "dump_written", "H4", "fact", "debug info to ",
        r"Finished writing (?:NCCLPG|Flight Recorder|\w+) debug info to (?P<path>\S+)",
    ),
    Shape(
        "gil_not_acquired", "H4", "fact", "not acquire GIL",
        r"Could not acquire GIL within (?P<timeout_ms>\d+) ms on exit",
    ),
    Shape(
        "store_flag_failed", "H5", "echo", "flag on TCPStore",
        r'Failed to check the \\?"should dump\\?" flag on TCPStore',
    ),
    Shape(
        "group_not_destroyed", "H6", "fact",
        ("destroy_process_group() was not called", "has NOT been destroyed"),
        r"destroy_process_group\(\) was not called before program exit|process group has NOT been destroyed",
    ),
)  # fmt: skip
