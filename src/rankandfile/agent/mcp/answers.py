"""The tools as the protocol lists and calls them."""

from __future__ import annotations

import sys
from typing import Any

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from rankandfile.agent.registry import TOOLS
from rankandfile.agent.result import Page, page
from rankandfile.agent.tool import Tool, ToolError, schema_of

from . import opening
from .cases import Cases, OpenCases

_READS = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CASE = {"type": "string", "description": "Which open case; needed where several are open."}


def tools(cases: Cases) -> list[types.Tool]:
    listed = [_tool(one.name, one.description, _with_case(one, cases)) for one in TOOLS.values()]
    if cases.roots is not None:
        told = f"{opening.DESCRIPTION}{cases.roots}"
        listed.insert(0, _tool(opening.NAME, told, schema_of(opening.OpenCase)))
    return listed


def call(cases: Cases, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    if name != opening.NAME and name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"there is no tool '{name[:80]}'; there are {', '.join(TOOLS)}")
    try:
        answer = _answer(cases, name, dict(arguments))
    except ToolError as error:
        return _said(str(error), is_error=True)
    except Exception as error:
        # What went wrong is for whoever runs the server; a client gets a sentence that it can go on from.
        print(f"raf mcp: {name}: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        told = f"{name} failed on this case ({type(error).__name__}); the other tools still answer"
        return _said(told, is_error=True)
    found = answer.result
    more = "" if found.more is None else f"\nThere is more: ask again with cursor={found.more}."
    meta = {"rankandfile/evidence": found.evidence, "rankandfile/more": found.more}
    return _said(f"{found.text}{more}", meta)


def _answer(cases: Cases, name: str, arguments: dict[str, Any]) -> Page:
    if name == opening.NAME:
        if not isinstance(cases, OpenCases):
            raise ToolError("this server was started for one case, and opens no other")
        try:
            asked = msgspec.convert(arguments, opening.OpenCase, strict=False)
        except msgspec.ValidationError as error:
            raise ToolError(f"{name}: {error}") from error
        return page(opening.open_case(cases, asked))
    chosen = arguments.pop("case", None) if cases.roots is not None else None
    if chosen is not None and not isinstance(chosen, str):
        raise ToolError(f"{name}: `case` is the name that open_case answered with")
    opened = cases.named(chosen)
    with opened.lock:
        return TOOLS[name].call(opened.bench, arguments)


def _with_case(tool: Tool, cases: Cases) -> dict[str, Any]:
    schema = tool.schema()
    if cases.roots is not None:
        schema["properties"] = {"case": _CASE, **schema["properties"]}
    return schema


def _tool(name: str, description: str, schema: dict[str, Any]) -> types.Tool:
    return types.Tool(name=name, description=description, input_schema=schema, annotations=_READS)


def _said(text: str, meta: dict[str, Any] | None = None, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error, _meta=meta)
