"""A server on this machine that speaks two makers' protocols, and plays the model that a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PIECE = 37
"""Characters of an argument per event: they come in pieces, cut anywhere."""


@dataclass
class Turn:
    """What the model answers to one request."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any] | str]] = field(default_factory=list)
    """Tools with their arguments; a string is sent as it is."""
    usage: tuple[int, int] = (1000, 50)
    raw: bytes | None = None
    """Sent instead of all this."""
    status: int = 200
    stalls: bool = False


Plays = Callable[[dict[str, Any], int], Turn]
"""Request, its number from 0 -> answer."""


@dataclass
class Server:
    port: int
    requests: list[dict[str, Any]]
    paths: list[str]
    bodies: list[bytes]
    stopped: threading.Event

    def model(self, protocol: str) -> str:
        return "anthropic:claude-test" if protocol == "anthropic" else f"http://127.0.0.1:{self.port}/v1#test"

    def environment(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}",
            "ANTHROPIC_API_KEY": "a-key-of-nobody",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }


@contextmanager
def serving(plays: Plays) -> Iterator[Server]:
    found: list[Server] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            server = found[0]
            body = self.rfile.read(int(self.headers["content-length"]))
            request = json.loads(body)
            turn = plays(request, len(server.requests))
            server.bodies.append(body)
            server.paths.append(self.path)
            server.requests.append(request)
            data = turn.raw
            if data is None:
                number = len(server.requests)
                data = (anthropic if self.path.endswith("/messages") else openai)(turn, number)
            self.send_response(turn.status)
            self.send_header(
                "content-type", "text/event-stream" if turn.status == 200 else "application/json"
            )
            self.send_header("connection", "close")
            self.end_headers()
            if turn.stalls:
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                server.stopped.wait(60)
            else:
                self.wfile.write(data)
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    found.append(Server(http.server_port, [], [], [], threading.Event()))
    thread = threading.Thread(target=http.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found[0]
    finally:
        found[0].stopped.set()
        http.shutdown()
        http.server_close()
        thread.join()


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), _PIECE):
        yield text[at : at + _PIECE]


def _words(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def anthropic(turn: Turn, number: int) -> bytes:
    """A streamed answer of the Messages API."""
    sent, received = turn.usage
    events: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {
                "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-test", "content": [],
                "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": sent, "output_tokens": 1},
            },
        },
        {"type": "ping"},
    ]  # fmt: skip
    index = 0
    if turn.text:
        block: dict[str, Any] = {"type": "text", "text": ""}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}
            for piece in _pieces(turn.text)
        ]
        events.append({"type": "content_block_stop", "index": index})
        index += 1
    for at, (name, arguments) in enumerate(turn.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
            for piece in _pieces(_words(arguments))
        ]
        events.append({"type": "content_block_stop", "index": index})
        index += 1
    why = "tool_use" if turn.calls else "end_turn"
    usage = {"output_tokens": received}
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage}
    )
    events.append({"type": "message_stop"})
    return b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)


def openai(turn: Turn, number: int) -> bytes:
    """A streamed answer of the Chat Completions API."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in _pieces(turn.text)]
    for index, (name, arguments) in enumerate(turn.calls):
        start = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_{number}_{index}", "type": "function", "function": start}
        deltas.append({"tool_calls": [call]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(_words(arguments))
        ]
    head = {
        "id": f"chat_{number}",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "test",
    }
    chunks = [
        {**head, "choices": [{"index": 0, "delta": one, "finish_reason": None}], "usage": None}
        for one in deltas
    ]
    why = "tool_calls" if turn.calls else "stop"
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": why}], "usage": None})
    sent, received = turn.usage
    usage = {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}
    chunks.append({**head, "choices": [], "usage": usage})
    return b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in chunks) + b"data: [DONE]\n\n"
