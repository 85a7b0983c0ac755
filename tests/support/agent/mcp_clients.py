"""The SDK's own client at `raf mcp`: as a process over stdio, over HTTP, or at a server in this process."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from support.later import Later

if TYPE_CHECKING:
    from mcp import Client

mcp, httpx2 = Later("mcp"), Later("httpx2")

RAF = [sys.executable, "-m", "rankandfile", "mcp"]
_PATIENCE_S = 300.0

Session = Callable[["Client"], Awaitable[None]]


def at(server: Any, session: Session, **options: Any) -> None:
    """Hold the session at whatever a client can connect to."""

    async def run() -> Exception | None:
        async with mcp.Client(server, **options) as client:
            return await _held(session, client)

    _run(run)


async def _held(session: Session, client: Client) -> Exception | None:
    """What fails in a session is told when the connection is closed: task groups would wrap it."""
    try:
        with anyio.fail_after(_PATIENCE_S):
            await session(client)
    except Exception as error:
        return error
    return None


def _run(run: Callable[[], Awaitable[Exception | None]]) -> None:
    failed = anyio.run(run)
    if failed is not None:
        raise failed


def over_stdio(arguments: Sequence[object], session: Session, cwd: Path | None = None) -> None:
    words = [*RAF[1:], *map(str, arguments)]
    at(mcp.StdioServerParameters(command=RAF[0], args=words, cwd=cwd), session)


class Address(NamedTuple):
    url: str
    token: str


def over_http(address: Address, session: Session, **options: Any) -> None:
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> Exception | None:
        headers = {"Authorization": f"Bearer {address.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=_PATIENCE_S) as http,
            mcp.Client(streamable_http_client(address.url, http_client=http), **options) as client,
        ):
            return await _held(session, client)

    _run(run)


@contextmanager
def serving(*arguments: object) -> Iterator[Address]:
    """`raf mcp --http` on a free port, with the token that it made up and printed."""
    command = [*RAF, *map(str, arguments), "--http", "0"]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stderr is not None and process.stdout is not None
        try:
            told = dict(process.stderr.readline().split() for _ in range(2))
            yield Address(told["address"], told["token"])
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)
        assert process.stdout.read() == ""


async def ask(client: Client, tool: str, **arguments: Any) -> str:
    """The answer of a tool, which must be one."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, text
    return str(text)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence with which a tool refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    text = str(result.content[0].text)
    assert "Traceback" not in text and text.count("\n") == 0
    return text


async def read(client: Client, uri: str) -> str:
    return str((await client.read_resource(uri)).contents[0].text)


async def investigate(client: Client, **case: str) -> list[str]:
    """The workflow of the playbook on the example of a rank that stops early, to an accepted verdict."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("overview", {}),
        ("progress", {}),
        ("cohorts", {}),
        ("waits", {}),
        ("divergence", {}),
        ("explain", {"rank": 2}),
        ("stacks", {"ranks": "0-3"}),
        ("logs", {"role": "messenger"}),
        ("calls", {"group": "default_pg", "seq": "85"}),
        ("source", {"file": "trainer.py", "first": 35, "last": 45}),
        ("definition", {"name": "out_of_patience"}),
        ("callers", {"name": "out_of_patience"}),
        ("control_flow", {"file": "trainer.py", "line": 40}),
        ("why_differs", {"file": "trainer.py", "line": 40}),
        ("hypotheses", {}),
        ("test_hypothesis", {"kind": "waits_for", "ranks": "1,3", "other": "2"}),
        ("evidence", {"ids": ["D2#84"]}),
        ("remedies", {}),
        (
            "propose_verdict",
            {
                "cause": "early_exit",
                "culprits": "2",
                "confidence": "supported",
                "file": "trainer.py",
                "line": 40,
                "condition": "self.out_of_patience()",
                "evidence": ["D2#84"],
            },
        ),
    ]
    return [await ask(client, tool, **arguments, **case) for tool, arguments in asked]
