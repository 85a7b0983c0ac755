"""Slurm: tasks that ended, steps that were cancelled, memory that ran out. Order of arrival means nothing."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape
from rankandfile.evidence.text.logs.signals import by_words

ORDER = 120


def _tasks(event: Event, _context: Context) -> None:
    """A task is a rank only where one task runs per rank, which the line does not tell."""
    event.about_in = None
    event.fields["tasks"] = event.about
    event.about = None
    what = str(event.fields.get("how", ""))
    event.signal = by_words(what)
    if "Out Of Memory" in what:
        event.kind, event.shape = "slurm_oom", "K1"


_TASKS = r"srun: error: (?P<host>[\w.-]+): tasks? (?P<about>\d[\d,-]*): "

SHAPES = (
    Shape(
        "slurm_oom", "K1", "fact", ("oom_kill event", "oom-kill event"),
        r"(?P<count>\d+) oom[_-]kill events?(?:\(s\))? in (?:StepId=)?(?P<step>\d[\w.+]*\w)",
    ),
    Shape(
        "slurm_task_end", "K2", "fact", "srun: error: ",
        _TASKS + r"(?P<how>Exited with exit code (?P<exit_code>\d+))",
        about_in="global", then=_tasks,
    ),
    Shape(
        "slurm_task_end", "K2", "fact", "srun: error: ",
        _TASKS + r"(?P<how>[A-Z][\w ()-]*)",
        about_in="global", then=_tasks,
    ),
    Shape("slurm_node_failure", "K3", "fact", "Node failure on", r"Node failure on (?P<host>[\w.-]+)"),
    Shape(
        "slurm_cancelled", "K3", "fact", " CANCELLED AT ",
        r"\*\*\* (?P<what>STEP|JOB) (?P<step>\S+) ON (?P<reporter>\S+) CANCELLED AT (?P<at>\S+)(?: DUE TO (?P<reason>[A-Z ]+?)(?:,| \*\*\*|$))?",
    ),
    Shape(
        # `sacct`: the last time in its row is that of the end.
        "slurm_cancelled", "K3", "fact", " CANCELLED by ",
        r"^\s*(?P<step>\d[\w.+\[\]-]*) .*?\bCANCELLED by (?P<by>\d+)(?:.*\b(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d))?",
    ),
    Shape(
        "slurm_cancelled", "K3", "fact", "JobState=CANCELLED", r"JobState=CANCELLED\b",
    ),
    Shape(
        "job_cancelled", "K3", "fact",
        ("TERM_OWNER", "TERM_ADMIN", "TERM_REQUEUE", "TERM_PREEMPT", "TERM_RUNLIMIT", "PBS: job killed", "Job deleted at request of",
         "cancelled by user", "Cancelled by user", "canceled by user", "topped by user", "stop requested by user"),
        r"(?P<why>TERM_(?:OWNER|ADMIN|REQUEUE\w*|PREEMPT|RUNLIMIT): .{1,80}|PBS: job killed: .{1,80}|Job deleted at request of \S+"
        r"|(?:\b[Jj]ob|\b[Rr]un|\b[Tt]ask|\b[Ww]orkload|\b[Ee]xecution)\b.{0,60}?\b(?:cancell?ed|stopped|stop requested) by user.{0,60})",
    ),
)  # fmt: skip
