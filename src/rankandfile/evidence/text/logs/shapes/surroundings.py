"""What a job needs of its surroundings, and did not get: a full disk, a name without an address, a host that is away."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 135

_OF_DAEMON = re.compile(r"(?i)(?:remote daemon|lost|failed)\b.*\bon (?:node|host) ([\w.-]{1,200})")
_ABOVE = re.compile(r"^(?:PING |--- )([\w.-]{1,200})")
_OF_MAP = re.compile(r"Data for node: ([\w.-]{1,200})")


def _daemon(event: Event, context: Context) -> None:
    """MPI's launcher names in the lines below which of its daemons it has lost."""
    below = (match for _, bare in context.following(12) if (match := _OF_DAEMON.search(bare.body)))
    event.host = next((match[1] for match in below), None)


def _pinged(event: Event, context: Context) -> None:
    """Whom nothing came back from, the lines above tell."""
    above = (match for bare in context.preceding(12) if (match := _ABOVE.search(bare.body)))
    event.host = next((match[1] for match in above), event.host)


def _mapped(event: Event, context: Context) -> None:
    """Under which node of a job's map a rank stands."""
    above = (match for _, text in context.line.before() if (match := _OF_MAP.search(text)))
    event.host = next((match[1] for match in above), None)


SHAPES = (
    Shape(
        "disk_full", "E1", "fact", ("No space left on device", "Disk quota exceeded"),
        r"(?P<error>No space left on device|Disk quota exceeded)(?:: '?(?P<path>/[^'\s]{1,300}))?",
    ),
    Shape(
        "name_unresolved", "E2", "fact",
        ("Name or service not known", "failure in name resolution", "nodename nor servname", "Could not resolve host"),
        r"(?P<error>Name or service not known|[Tt]emporary failure in name resolution|nodename nor servname|Could not resolve host)",
    ),
    Shape(
        "host_lost", "K8", "messenger", "ssh: connect to host",
        r"ssh: connect to host (?P<host>[\w.-]+) port \d+: (?P<error>No route to host|Connection timed out|Host is down|Network is unreachable|Operation timed out)",
    ),
    Shape(
        "host_lost", "K8", "messenger", ("has lost communication with a remote daemon", "lost contact with daemon", "has lost contact with"),
        r"(?P<error>(?:PRTE|ORTE|PMIX|mpirun|prterun)\b.{0,40}?has lost (?:communication|contact) with .{0,40}?daemon\w*)",
        then=_daemon,
    ),
    Shape(
        "host_lost", "K8", "messenger", "% packet loss", r"(?P<error> 100(?:\.0)?% packet loss)", then=_pinged,
    ),
    Shape(
        "host_lost", "K8", "messenger", (" not responding", "NodeNotReady", "DUE TO NODE FAILURE", "is unreachable"),
        r"\b(?:[Nn]odes? (?P<host>[\w.-]+) (?P<error>not responding|is unreachable|status is now: NodeNotReady)|(?:STEP|JOB) \S+ ON (?P<reporter>\S+) CANCELLED .*?DUE TO NODE FAILURE)",
    ),
    Shape(
        "host_unreachable", "K8", "fact",
        ("No route to host", "Host Unreachable", "Host is unreachable", "reachability failed", "NOT_RESPONDING",
         "Node is not ready", "no reply since"),
        r"(?P<error>No route to host|Host (?:is )?[Uu]nreachable|reachability failed|NOT_RESPONDING|Node is not ready|no reply since)",
    ),
    Shape(
        "rank_on_host", "K8", "fact", "Process rank: ",
        r"Process (?:OMPI )?jobid: .*?Process rank: (?P<rank>\d+)\b", then=_mapped,
    ),
    Shape(
        "rank_on_host", "K8", "fact", (" running on ", " started on ", " starting on "),
        r"(?i)\b(?:rank (?P<rank>\d+)(?:/\d+| of \d+)?)(?: (?:is )?(?:running|started|starting|up|alive|ready))? on (?:host |node )?(?P<host>(?!(?:cuda|gpu|device|tile|port|cpu|npu|xpu)\b)(?=[\w.-]*\d)[a-z][\w.-]+)",
    ),
)  # fmt: skip
