"""What a job needs of its surroundings, and did not get: a full disk, a name without an address, a host that is away."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

ORDER = 135

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
        "host_unreachable", "K8", "fact",
        ("No route to host", "Host Unreachable", "Host is unreachable", "reachability failed", "NOT_RESPONDING",
         "Node is not ready", "no reply since"),
        r"(?P<error>No route to host|Host (?:is )?[Uu]nreachable|reachability failed|NOT_RESPONDING|Node is not ready|no reply since)",
    ),
)  # fmt: skip
