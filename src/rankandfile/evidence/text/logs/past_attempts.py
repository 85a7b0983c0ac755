"""Failures that tell nothing of how the job stands: of an attempt that is over, and what an end from outside leaves.

An attempt is over where an agent has started the ranks anew behind it, in the same log, and the log tells of the new
one, by work or by a failure of its own: a log that ends with the restart tells of that one alone.
A job that was cancelled ends with the exceptions of its signal handlers, and with exit codes.
"""

from __future__ import annotations

import polars as pl

_FAILS = ("origin", "messenger", "echo")
_ENDS = (
    "agent_failure",
    "child_failed",
    "process_ended",
    "agent_unkillable",
    "ray_worker_exit",
    "ray_oom",
    "pod_oom",
)
_GOES_ON = ("progress", "work_goes_on")
EARLIER = "earlier_attempt"
_CANCELLED = ("slurm_cancelled", "job_cancelled", "agent_signalled")
_RAISED, _LEFT, _TASK = "traceback", "said_leaving", "slurm_task_end"
#: Words of an exception, or its innermost function, that are of a signal.
_OF_A_SIGNAL = (
    r"(?i)\bSIG(?:TERM|INT|HUP|USR[12]|CONT)\b|\bsignal(?: number)?\W{0,3}(?:1|2|10|12|15)\b|\bpreempted\b"
    r"|\binterrupted by (?:user|signal)\b"
)
_HANDLER = r"(?i)^\[\[\"[^\"]{0,60}(?:sig_?(?:term|int|hup|usr|nal)|on_?term|terminat\w*_handler|preempt)"
_SENT = ("SIGTERM", "SIGKILL", "SIGINT")


def without_past_attempts(events: pl.DataFrame) -> pl.DataFrame:
    """Their lines stay as facts that accuse nobody."""
    kind, role = pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String)
    if not events.select((kind == "restarted").any()).item():
        return events
    tells = role.is_in(list(_FAILS)) | kind.is_in(list(_ENDS))
    last = events.group_by("log").agg(
        pl.col("line").filter(kind == "restarted").max().alias("restart"),
        pl.col("line").filter(tells | kind.is_in(list(_GOES_ON))).max().alias("latest"),
    )
    joined = events.join(last, on="log", how="left", maintain_order="left")
    over = (tells & (pl.col("line") < pl.col("restart")) & (pl.col("restart") < pl.col("latest"))).fill_null(
        False
    )
    return joined.with_columns(
        pl.when(over).then(pl.lit(EARLIER)).otherwise(kind).cast(events.schema["kind"]).alias("kind"),
        pl.when(over).then(pl.lit("fact")).otherwise(role).cast(events.schema["role"]).alias("role"),
    ).select(events.columns)


def without_aftermath(events: pl.DataFrame) -> pl.DataFrame:
    """Of a job that somebody cancelled: what its handlers of signals raised, and the codes of tasks that all ended so,
    began elsewhere. Where a task has a code and others were ended by a signal, it may have failed before."""
    kind, role = pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String)
    if not events.select(kind.is_in(list(_CANCELLED)).any()).item():
        return events
    frames = pl.col("fields").str.json_path_match("$.frames")
    of_signal = pl.col("text").str.contains(_OF_A_SIGNAL) | frames.str.contains(_HANDLER).fill_null(False)
    coded = kind == _TASK
    signalled = events.select((coded & pl.col("signal").cast(pl.String).is_in(list(_SENT))).any()).item()
    echo = ((kind == _RAISED) & (role == "origin") & of_signal) | (
        coded & pl.col("signal").is_null() & pl.lit(not signalled)
    )
    return events.with_columns(
        pl.when(echo.fill_null(False))
        .then(pl.lit("echo"))
        .otherwise(role)
        .cast(events.schema["role"])
        .alias("role"),
        pl.when((kind == _LEFT) & of_signal)
        .then(pl.lit("said_signalled"))
        .otherwise(kind)
        .cast(events.schema["kind"])
        .alias("kind"),
    )
