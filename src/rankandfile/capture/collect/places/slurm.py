"""The nodes of a job of Slurm, each reached by a step of its own beside those of the job."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence

from msgspec import Struct

from rankandfile.capture.collect.target import Also, Target
from rankandfile.model.errors import UserError

from . import host_names
from .asking import NoAnswer, ask

PROGRAM = "srun"
_JOB = re.compile(r"\d+(?:[_+]\d+)?")
_FIELD = re.compile(
    r"(?:^|\s)(JobId|JobState|NodeList|BatchHost)=(\S*)|^\s*(StdOut|StdErr)=(.*)$", re.MULTILINE
)
_ROW = "--format=JobID%20,State%30,ExitCode,Start,End,NodeList%60"
#: States in which there is nothing yet.
_BEFORE = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD")
_NOTHING = ("", "(null)", "/dev/null")


class Job(Struct, frozen=True, kw_only=True):
    id: str
    state: str = ""
    nodes: str = ""
    """As Slurm writes them: node[01-02]."""
    first: str = ""
    """The host of the batch script, which sees its output."""
    outputs: tuple[str, ...] = ()


def targets(job: str, through: Sequence[str], patterns: Sequence[str], stacks: bool) -> list[Target]:
    """Raises `UserError` for a job that has no nodes now, with what to do instead."""
    if not _JOB.fullmatch(job):
        raise UserError(f"--slurm {job}: the number of a job, such as 812345")
    found = _found(job)
    try:
        nodes = host_names.checked(ask(["scontrol", "show", "hostnames", found.nodes]).split())
    except NoAnswer as why:
        raise UserError(str(why)) from why
    reached = [
        Target(name=node, reach=_step(found.id, node, through), patterns=tuple(patterns), stacks=stacks)
        for node in nodes
    ]
    return [*reached, _of_job(found, through)]


def _of_job(job: Job, through: Sequence[str]) -> Target:
    """What is the job's, and no node's: its output, and what Slurm knows of its end."""
    also = [Also("scontrol.txt", ("scontrol", "show", "job", job.id))]
    if shutil.which("sacct"):
        also.append(Also("sacct.txt", ("sacct", "-j", job.id, _ROW)))
    reach = _step(job.id, job.first, through) if job.first and job.outputs else ()
    return Target(name=f"job-{job.id}", reach=reach, patterns=job.outputs, also=tuple(also), node=False)


def _step(job: str, node: str, through: Sequence[str]) -> tuple[str, ...]:
    return (*through, f"--jobid={job}", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={node}")


def _found(job: str) -> Job:
    try:
        records = jobs(ask(["scontrol", "show", "job", job]))
    except NoAnswer as why:
        over = _over(job)
        raise UserError(over or str(why)) from why
    if len(records) > 1:
        names = ", ".join(one.id for one in records[:3])
        raise UserError(f"--slurm {job}: {len(records)} jobs have this number: name one of {names}")
    found = records[0] if records else Job(id=job)
    if found.state in _BEFORE:
        raise UserError(f"job {job} has not begun ({found.state}): no node has anything of it")
    if found.state != "RUNNING":
        raise UserError(is_over(job, found.state, found.nodes))
    return found


def jobs(text: str) -> list[Job]:
    """What `scontrol show job` prints."""
    found = []
    for record in re.split(r"\n\s*\n", text):
        fields = {one[1] or one[3]: (one[2] or one[4] or "").strip() for one in _FIELD.finditer(record)}
        if "JobId" in fields:
            outputs = dict.fromkeys(fields.get(name, "") for name in ("StdOut", "StdErr"))
            found.append(
                Job(
                    id=fields["JobId"],
                    state=fields.get("JobState", ""),
                    nodes=fields.get("NodeList", ""),
                    first=fields.get("BatchHost", ""),
                    outputs=tuple(one for one in outputs if one not in _NOTHING),
                )
            )
    return found


def _over(job: str) -> str:
    """What the accounting still knows of a job that the controller has forgotten; empty for nothing."""
    try:
        row = ask(["sacct", "-j", job, "-X", "-n", "-P", "--format=State,NodeList"]).splitlines()[0]
    except (NoAnswer, IndexError):
        return ""
    state, _, nodes = row.partition("|")
    return is_over(job, state, nodes)


def is_over(job: str, state: str, nodes: str) -> str:
    said = f"job {job} is over ({state or 'in no known state'}), and srun reaches no node of it any more"
    if nodes in (*_NOTHING, "None assigned"):
        return said
    return f"{said}; ssh may: raf collect --ssh {shlex.quote(nodes)} -o DIR"
