"""Gloo: says neither peer, operation nor group. Somebody waited, or somebody ended."""

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

ORDER = 70

SHAPES = (
    Shape(
        "gloo_timeout", "G1", "messenger", ("ms for recv operation", "ms for send operation"),
        r"Timed out waiting (?P<timeout_ms>\d+)\s*ms for (?P<direction>recv|send) operation to complete",
    ),
    Shape(
        "gloo_size_disagrees", "G8", "messenger", "op.preamble.length",
        r"op\.preamble\.length <= op\.nbytes\. (?P<received>\d+) vs (?P<expected>\d+)",
    ),
    Shape(
        "gloo_peer_closed", "G2", "echo", "Connection closed by peer",
        r"Connection closed by peer (?P<peer>\[[^\]]*\]:\d+)",
    ),
    Shape(
        "gloo_peer_closed", "G2", "echo", ("pair.cc:", "Read error ["),
        r"(?:Read|Write) error (?P<peer>\[[^\]]*\]:\d+): (?P<error>.*)",
    ),
)  # fmt: skip
