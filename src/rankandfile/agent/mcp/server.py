"""The server: what the protocol asks, answered by tools, resources and prompts."""

from __future__ import annotations

import signal
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rankandfile import __version__

from . import answers, resources
from .cases import Cases
from .prompts import DISCIPLINE, prompt, prompts

Context = ServerRequestContext[Any, Any]
_Paging = types.PaginatedRequestParams | None


def server(cases: Cases) -> Server[Any]:
    async def list_tools(_: Context, __: _Paging) -> types.ListToolsResult:
        return types.ListToolsResult(tools=answers.tools(cases))

    async def call_tool(_: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        # A thread: the connection answers pings while a case is read.
        return await anyio.to_thread.run_sync(partial(answers.call, cases, asked.name, asked.arguments or {}))

    async def list_resources(_: Context, __: _Paging) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.resources(cases))

    async def list_templates(_: Context, __: _Paging) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(_: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await anyio.to_thread.run_sync(partial(resources.read, cases, asked.uri))

    async def list_prompts(_: Context, __: _Paging) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts())

    async def get_prompt(_: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        return prompt(asked.name, asked.arguments or {})

    return Server(
        "rank-and-file",
        title="Rank & File",
        version=__version__,
        instructions=DISCIPLINE,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def serve_stdio(cases: Cases) -> None:
    """Until the client closes our stdin. stdout carries the protocol; whatever else is printed goes to stderr."""

    async def serve() -> None:
        made = server(cases)
        async with stdio_server() as (incoming, outgoing):
            await made.run(incoming, outgoing, made.create_initialization_options())

    # Python would first wait for the thread that reads stdin, which ends with the client only.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(serve)
