"""What JAX, vLLM, SGLang, HCCL and Horovod say of a job that stands still, in their own words."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

import re
from itertools import islice

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event, integer
from rankandfile.evidence.text.logs.ranklists import parse as ranks_in
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 160

_TASK = re.compile(r"/job:\w{1,80}/replica:\d{1,9}/task:(\d{1,7})")


def _tasks_below(event: Event, context: Context) -> None:
    """Names of tasks, one a line; a task of JAX is one process."""
    tasks: list[int] = []
    for _, bare in context.following(64):
        match = _TASK.search(bare.body)
        if match is None:
            if tasks or "#" not in bare.body:
                break
            continue
        tasks.append(int(match[1]))
    event.about, event.about_in = tasks or None, "global" if tasks else None


def _barrier(event: Event, context: Context) -> None:
    """How many came, who came first, and some of those that did not."""
    tasks: list[int] = []
    for _, bare in context.following(64):
        body = bare.body
        if match := _REACHED.search(body):
            event.fields["reached"], event.fields["expected"] = int(match[1]), int(match[2])
            continue
        if "The first task at the barrier" in body:
            event.fields["first"] = next((int(task) for task in _TASK.findall(body)), None)
            continue
        if (match := _TASK.search(body)) is None:
            break
        tasks.append(int(match[1]))
    event.about, event.about_in = tasks or None, "global" if tasks else None


#: The rank before the colon would be taken for a task of srun: whole lines are looked at.
_LACKS = re.compile(r"(?:^|[\s>:\]])(\d{1,6})!?: \[([^\[\]]{1,2000})\]\s*$")
_MISSING = re.compile(r"(\S{1,400}) \[missing ranks: ([\d, ]{1,2000})\]")
_MOST_OF_OTHERS = 8


def _stalled(event: Event, context: Context) -> None:
    """Per rank what it has not submitted; before 0.18, per tensor the ranks that have not."""
    lacks: dict[int, str] = {}
    others = 0
    for _, pieces in islice(context.line.below(), 256):
        for bare in pieces:
            if match := _LACKS.search(bare.line):
                lacks[int(match[1])] = match[2]
            elif match := _MISSING.search(bare.line):
                for rank in ranks_in(match[2]):
                    lacks.setdefault(rank, match[1])
            elif "Stalled " not in bare.line:
                others += 1
        if others > _MOST_OF_OTHERS:
            break
    event.about, event.about_in = sorted(lacks) or None, "global" if lacks else None
    by_tensors: dict[str, list[int]] = {}
    for rank, tensors in sorted(lacks.items()):
        by_tensors.setdefault(tensors.partition(",")[0][:200], []).append(rank)
    sides = sorted(by_tensors.items(), key=lambda side: len(side[1]))
    if len(sides) == 1:
        event.fields["what"] = sides[0][0]
    elif len(sides) == 2 and 2 * len(sides[0][1]) < len(lacks):
        # Each side waits for what the other has not submitted: the few are elsewhere.
        (event.fields["what"], event.about), event.fields["instead"] = sides[0], sides[1][0]


_REACHED = re.compile(r"# of tasks that reached the barrier: (\d{1,7})/(\d{1,7})")

SHAPES = (
    Shape(
        "xla_rendezvous", "J1", "messenger", "threads to join the rendezvous",
        r"(?:waiting for|Termination timeout for) `(?P<what>.{1,400}?)`.{0,200}?Expected (?P<awaited>\d+) threads to join the rendezvous, but (?:only (?P<arrived>\d+)|not all) of them arrived",
    ),
    Shape(
        "xla_leader_stuck", "J1", "messenger", "threads joined the rendezvous",
        r"`(?P<what>.{1,400}?)`.{0,200}?All (?P<awaited>\d+) threads joined the rendezvous",
    ),
    Shape(
        "jax_unhealthy_tasks", "J2", "fact", "stopped sending heartbeats",
        r"tasks are unhealthy \(stopped sending heartbeats\)",
        then=_tasks_below,
    ),
    Shape(
        "jax_barrier", "J3", "messenger", "Barrier timed out",
        r"Barrier timed out\. Id: (?P<key>\S+?)(?:\. |$)",
        then=_barrier,
    ),
    Shape("xla_unstuck", "J1", "fact", "Thread is unstuck!", r"Thread is unstuck! Warning above was a false-positive"),
    Shape(
        "horovod_stalled", "B1", "messenger", "submitted to be reduced, gathered",
        r"tensors were submitted to be reduced, gathered or broadcasted by subset of ranks.{0,80}?more than (?P<waited_s>\d+) seconds",
        then=_stalled,
    ),
    Shape(
        "vllm_no_block", "V1", "messenger", "memory broadcast block found",
        r"No available shared memory broadcast block found in (?P<waited_s>\d+) seconds",
    ),
    Shape(
        "sglang_watchdog", "V2", "messenger", "atchdog timeout (self.watchdog",
        r"[Ww]atchdog timeout \(self\.watchdog_timeout=(?P<timeout_s>\d+)",
        then=lambda event, context: _coordinates(event, context),
    ),
    Shape(
        "hccl_notify", "A1", "messenger", "not received the Notify record",
        r"has not received the Notify record from remote rank:? ?\[(?P<remote>\w+)\](?:.*?tag\[(?P<tag>[^\]]{1,200})\])?",
        then=lambda event, _context: _remote(event),
    ),
    Shape(
        # The server of a new communicator: who has come to it, one line for each eight ranks.
        "hccl_met", "A3", "messenger", "connected rankinfo[LINE",
        r"connected rankinfo\[LINE \d+\]: (?P<ranks>\[\d[\[\]\d,; ]*)",
        then=lambda event, _context: _met(event),
    ),
    Shape(
        "hccl_absent", "A3", "messenger", ("Failed to connect agent[", "connectFailedAgentIdList["),
        r"(?:Failed to connect agent|connectFailedAgentIdList)\[(?P<about>\d[\d, ]*)\]", about_in="group",
    ),
    Shape(
        "hccl_size", "A3", "fact", ("need connect rankNum is [", "HcclCommInitRootInfo", "connected "),
        r"(?:need connect rankNum is \[|HcclCommInitRootInfo\w*:ranks\[|socket timeout, connected \d+ of )(?P<nranks>\d+)",
    ),
    Shape(
        "hccl_lost", "A2", "messenger", "Heartbeat Lost Occurred",
        r"(?:Cluster Exception Location\[IP/ID\]:\[(?P<peer>[^\]]{1,80})\]|serverId\[(?P<server>[^\]]{1,80})\], deviceId\[(?P<device>\d+)\]).*?Heartbeat Lost Occurred",
    ),
)  # fmt: skip

_PLACE = re.compile(r"\b(DP|PP|TP|EP)(\d{1,5})\b")


def _coordinates(event: Event, context: Context) -> None:
    """SGLang writes a scheduler's place, DP1 PP0 TP3, in the prefix of each of its lines."""
    places = _PLACE.findall(context.bare.line[:200])
    if places:
        event.fields["place"] = " ".join(f"{name}{number}" for name, number in places)


def _met(event: Event) -> None:
    """Each number is written with sixteen digits."""
    written = re.findall(r"\d+", str(event.fields.pop("ranks", "")))
    numbers = (integer(one, narrow=True) for one in written)
    event.about, event.about_in = [one for one in numbers if one is not None], "group"


def _remote(event: Event) -> None:
    remote = event.fields.get("remote")
    if isinstance(remote, int):
        event.about, event.about_in = [remote], "group"
