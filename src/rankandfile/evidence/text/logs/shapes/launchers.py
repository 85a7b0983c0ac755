"""DeepSpeed's launcher, mpirun, Ray, Kubernetes: what they say of a process that ended."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event, integer
from rankandfile.evidence.text.logs.shape import Shape
from rankandfile.evidence.text.logs.signals import by_words

ORDER = 110


def _signalled(event: Event, _context: Context) -> None:
    event.exit_code = -int(event.signal) if event.signal and len(event.signal) < 4 else None


_ROW = re.compile(r"^\s*(?:\S{1,200}\s+)?(?:pod/)?([\w.-]{1,200})\s+\d{1,4}/\d{1,4}\s+[A-Z]")
_NAME = re.compile(r"^\s+name: \"?([\w.-]{1,200})\"?$")
_FAR = 300
#: The environment of the pod's container, as `describe` prints it, and in its document.
_RANK = re.compile(r"^\s+RANK:\s+(\d{1,6})$")
_OF_RANK, _VALUE = re.compile(r"^\s*- name: RANK$"), re.compile(r"^\s+value: \"?(\d{1,6})\"?$")
_POD = re.compile(r"^Name: +([\w.-]{1,200})$|pod/([\w.-]{1,200})")


def _signalled_by_words(event: Event, _context: Context) -> None:
    """As a shell words it of a process that it had started."""
    event.signal = by_words(event.signal or "")


def _pod(event: Event, context: Context) -> None:
    """`kubectl get pods` names the pod before its state; `describe`, and its document, far above."""
    if match := _ROW.match(context.bare.line):
        event.fields["pod"] = match[1]
        return
    if "pod" in event.fields and event.kind != "pod_oom":
        return
    named = value = ""
    for bare in context.preceding(_FAR):
        if event.rank is None and (match := _RANK.match(bare.body)):
            event.rank, event.rank_from = int(match[1]), "line"
        elif event.rank is None and value and _OF_RANK.match(bare.body):
            event.rank, event.rank_from = int(value), "line"
        value = match[1] if (match := _VALUE.match(bare.body)) else ""
        if match := _POD.search(bare.body):
            event.fields["pod"] = match[1] or match[2]
            return
        if match := _NAME.match(bare.body):
            named = match[1]
        elif bare.body.strip() == "metadata:" and named:
            event.fields["pod"] = named
            return


_LATER = re.compile(r"(?P<how>EXIT CODE|KILLED BY SIGNAL): (?P<number>\d{1,3})")


_NODE = re.compile(r"PID (?P<pid>\d{1,9}) on node (?P<host>[\w.-]{1,200})")
_SIGNAL = re.compile(r"on signal (?P<signal>\d{1,3})")
_ERRORCODE = re.compile(r"with errorcode (?P<code>-?\d{1,9})")
_CODE = re.compile(r"Exit code: {1,8}(?P<code>-?\d{1,9})")


def _noticed(event: Event, context: Context) -> None:
    """Open MPI breaks the sentence at the width of a terminal, wherever the host's name makes it too long."""
    words = " ".join([context.bare.body, *(bare.body for _, bare in context.following(2))])
    if match := _NODE.search(words):
        # Some releases do not know the process and print a zero.
        event.pid, event.host = int(match["pid"]) or None, match["host"]
    if match := _SIGNAL.search(words):
        event.signal = match["signal"]
    _signalled(event, context)


def _aborted(event: Event, context: Context) -> None:
    for _, bare in context.following(3):
        if match := _ERRORCODE.search(bare.body):
            event.exit_code = int(match["code"])
            return


def _first_to_exit(event: Event, context: Context) -> None:
    for _, bare in context.following(2):
        if match := _CODE.search(bare.body):
            event.exit_code = int(match["code"])
            return


def _hydra(event: Event, context: Context) -> None:
    """Hydra's box tells in the next line how the process ended."""
    for _, bare in context.following(3):
        if match := _LATER.search(bare.body):
            number = int(match["number"])
            event.exit_code = -number if match["how"] != "EXIT CODE" else number
            return


def _ended(event: Event, context: Context) -> None:
    """A number that launchers print as a code or as a signal, whichever they mean."""
    if "rank_word" in event.fields and str(event.fields.pop("rank_word")).lower() != "rank":
        # A worker or a task is a rank in some launchers, and a thread of a pool in others.
        event.fields["worker"] = event.rank
        event.rank, event.rank_from = context.bare.rank, context.bare.rank_from
    number = event.fields.pop("number", None)
    if isinstance(number, int):
        is_signal = "signal" in str(event.fields.pop("what", "")).lower() and number > 0
        event.exit_code = -number if is_signal else number
    if event.exit_code is None:
        _signalled(event, context)
    if event.exit_code == 0:
        event.role = "fact"


_OF_ACTOR = re.compile(r"^\s*(pid|ip): (\S{1,60})\s*$")


def _actor(event: Event, context: Context) -> None:
    """Ray lists what it knows of an actor, one thing a line, above the words on its end."""
    for bare in context.preceding(10):
        match = _OF_ACTOR.match(bare.body)
        if match and match[1] == "pid" and event.pid is None and match[2].isdecimal():
            event.pid = integer(match[2])
        elif match and match[1] == "ip" and event.host is None:
            event.host = match[2]


_WHO = r"(?<![\w])(?P<rank_word>[Rr]ank|[Ww]orker|[Tt]ask)\s*[#=:]?\s*(?P<rank>\d+)\b"
_HOW = r"(?:exited|terminated|died|crashed|ended|was killed|killed)"

SHAPES = (
    Shape("launcher_killing", "P6", "echo", "Killing subprocess", r"Killing subprocess (?P<pid>\d+)"),
    Shape(
        "launcher_exit", "P6", "fact", "exits with return code",
        r"exits with return code = (?P<exit_code>-?\d+)",
    ),
    Shape(
        "mpirun_exit", "P7", "fact", "noticed that process rank",
        r"noticed that process rank (?P<rank>\d+) with PID",
        then=_noticed,
    ),
    Shape(
        "mpirun_exit", "P7", "fact", "Process name: ",
        r"Process name: \[(?:\[\d+,\d+\],|[^\]\s]{1,200}@\d+,)(?P<rank>\d+)\]",
        then=_first_to_exit,
    ),
    Shape(
        "mpi_abort", "P7", "origin", "MPI_ABORT was invoked",
        r"MPI_ABORT was invoked on rank (?P<rank>\d+) in communicator MPI[_ ]COMM[_ ]WORLD",
        then=_aborted,
    ),
    Shape(
        "mpirun_exit", "P7", "fact", " RUNNING AT ",
        r"(?:RANK (?P<rank>\d+) )?PID (?P<pid>\d+) RUNNING AT (?P<host>\S+)",
        then=_hydra,
    ),
    Shape(
        "process_ended", "P7", "fact",
        ("exited with", "exited (", "terminated with", "terminated by", "killed by signal", "died with",
         "crashed with", "was killed by", "ended with"),
        _WHO + r".{0,60}?\b" + _HOW + r"\b.{0,30}?(?P<what>code|status|signal|\()\s*[:=]?\s*(?P<number>-?\d+)",
        then=_ended,
    ),
    Shape(
        "process_ended", "P7", "fact", ("exited with", "terminated with", "killed by signal"),
        r"[Pp]rocess (?P<pid>\d+)\b.{0,20}?(?:local_rank[=:]\s*(?P<local_rank>\d+))?\)?.{0,20}?" + _HOW
        + r"\b.{0,30}?(?P<what>code|status|signal)\s*[:=]?\s*(?P<number>-?\d+)",
        then=_ended,
    ),
    Shape(
        "executor_worker_died", "P7", "fact", "died unexpectedly",
        r"(?:Worker proc \S*?-(?P<worker>\d+)|RayWorkerProc rank=\[(?P<about>[\d, ]+)\]) died unexpectedly",
        about_in="global",
    ),
    Shape(
        "pod_evicted", "K4", "origin", (" Evicted ", "was low on resource"),
        r"(?:pod/(?P<pod>[\w.-]+)\s+)?The node was low on resource: (?P<resource>[\w-]+)",
    ),
    Shape(
        "ray_oom", "P7", "origin", "due to memory pressure",
        r"(?P<count>\d+) Workers? \(tasks / actors\) killed due to memory pressure \(OOM\)",
    ),
    Shape(
        "ray_worker_exit", "P7", "fact", "Worker exit type",
        r"(?:Worker IP address: (?P<host>\S+) .{0,80}?Worker PID: (?P<pid>\d+) .{0,20}?)?Worker exit type: (?P<exit_type>\w+)"
        r"(?: Worker exit detail: (?P<detail>[^.]*))?",
        then=_actor,
    ),
    Shape(
        "ray_oom", "P7", "origin", "Memory on the node (IP",
        r"Memory on the node \(IP: (?P<host>[^,)\s]+).{0,200}? where the (?:task|actor|lease|worker)\b.{0,300}?\bpid=(?P<pid>\d+)",
    ),
    Shape(
        "ray_oom", "P7", "origin", "node running low on memory",
        r"(?:Task|Actor|Worker)\w* was killed due to the node running low on memory",
    ),
    Shape(
        "job_ended_well", "P6", "fact", ("exited with", "finished with", "completed with", "successfully"),
        r"\b[Aa]ll (?:\d+ )?(?P<what>workers|ranks|processes|tasks|nodes|pods)\b.{0,40}?\b(?:exited|finished|completed|ended)\b"
        r".{0,20}?(?:(?:code|status)\W{0,3}0\b|successfully)",
    ),
    Shape("job_ended_well", "P6", "fact", "' succeeded", r"^Job '[^']{1,200}' succeeded"),
    Shape("job_ended_well", "P6", "fact", "Reporting training SUCCESS", r"Reporting training SUCCESS"),
    Shape(
        "process_ended_well", "P6", "fact", "exits successfully", r"Process (?P<pid>\d+) exits successfully",
    ),
    Shape("ray_sigterm", "P7", "echo", "process receives a SIGTERM", r"The process receives a SIGTERM"),
    Shape(
        "pod_ended", "K4", "origin",
        ("imminent node shutdown", "Preempted by ", "Marking for deletion Pod", "NoExecute taint"),
        r"(?:[Pp]od/(?P<pod>[\w.-]+)\s+)?(?P<reason>Pod was terminated in response to imminent node shutdown|Preempted by .{1,80}"
        r"|Marking for deletion Pod (?P<namespace>[\w.-]+)/[\w.-]+|.{0,40}NoExecute taint)",
        then=_pod,
    ),
    Shape(
        "pod_unscheduled", "K4", "origin", "FailedScheduling",
        r"FailedScheduling\b(?:.{0,80}?pod/(?P<pod>[\w.-]+))?.{0,80}?(?P<reason>\d+/\d+ nodes are available.{0,200})",
        then=_pod,
    ),
    Shape(
        "pod_unscheduled", "K4", "origin",
        (" Pending  ", " ContainerCreating ", " PodInitializing ", "ImagePullBackOff ", " ErrImagePull ",
         " CreateContainerConfigError ", " CreateContainerError ", "  Init:"),
        r"^(?P<pod>[\w.-]+)\s+0/\d+\s+(?P<reason>Pending|ContainerCreating|PodInitializing|ImagePullBackOff|ErrImagePull|CreateContainer(?:Config)?Error|Init:\S+)\s+0\b",
    ),
    Shape(
        "pod_unscheduled", "K4", "origin", "is waiting to start",
        r"container \S+ in pod \W?(?P<pod>[\w.-]+)\W? is waiting to start: (?P<reason>.{1,120})",
    ),
    Shape(
        "pod_unscheduled", "K4", "origin",
        ("FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "Failed to pull image", "Unable to attach or mount"),
        r"(?:[Pp]od/(?P<pod>[\w.-]+)\s+)?(?P<reason>(?:Multi-Attach error|Unable to attach or mount volumes|MountVolume\.\w+ failed|AttachVolume\.\w+ failed|Failed to create pod sandbox|Failed to pull image)\b.{0,200})",
        then=_pod,
    ),
    Shape(
        "pod_listed", "K9", "fact", (" Running  ", " Completed  ", " Terminating  ", " Error  ", " CrashLoopBackOff "),
        r"^(?P<pod>[\w.-]+)\s+\d+/\d+\s+(?P<status>Running|Completed|Terminating|Error|CrashLoopBackOff)\s+\d",
    ),
    Shape(
        "node_taken", "K4", "origin", ("is being preempted", "spot interruption", "reclaimed by", "BidEvictedEvent"),
        r"(?P<reason>(?:[Ii]nstance|[Nn]ode|VM) (?P<host>[\w.-]+) is being preempted.{0,60}|.{0,80}spot interruption.{0,60}"
        r"|.{0,80}reclaimed by (?:AWS|EC2|the cloud|Azure|GCE).{0,40}|BidEvictedEvent)",
    ),
    Shape(
        "process_ended", "P7", "fact", ("Killed   ", "Segmentation fault", "Bus error"),
        r": line \d+: +(?P<pid>\d+) (?P<signal>Killed|Segmentation fault|Bus error)\b",
        then=_signalled_by_words,
    ),
    Shape("pod_oom", "K4", "origin", "OOMKilled", r"OOMKilled(?!\W{1,6}false)(?:.*?exit ?[cC]ode:? (?P<exit_code>\d+))?", then=_pod),
)  # fmt: skip
