"""What gloo writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("G1", "gloo_timeout", "RuntimeError: [/src/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 1800000ms for recv operation to complete", {"timeout_ms": 1_800_000, "direction": "recv", "role": "messenger"}),
    Example("G8", "gloo_size_disagrees", "RuntimeError: [enforce fail at ../pair.cc:446] op.preamble.length <= op.nbytes. 256 vs 128", {"received": 256, "expected": 128, "role": "messenger"}),
    Example("G2", "gloo_peer_closed", "RuntimeError: [../pair.cc:553] Connection closed by peer [10.1.2.3]:62187. This may indicate ...", {"peer": "[10.1.2.3]:62187", "role": "echo"}),
    Example("G2", "gloo_peer_closed", "RuntimeError: [../pair.cc:537] Read error [10.1.2.3]:50589: Connection reset by peer. ...", {"peer": "[10.1.2.3]:50589", "role": "echo"}),
]  # fmt: skip


class TestGloo(ShapeTests):
    examples = EXAMPLES
