"""The tools as the protocol lists and calls them; among them one that opens a case, for a server without one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from rankandfile.agent.mcp.cases import Asked, Cases, OpenCases
from rankandfile.agent.registry import TOOLS
from rankandfile.agent.result import Line, Page, line, page
from rankandfile.agent.tool import Arguments, Tool, ToolError, schema_of
from rankandfile.agent.tools.overview import TOOL as OVERVIEW
from rankandfile.pipeline import Options

_READS = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_CASE = {"type": "string", "description": "Which open case; needed where several are open."}

_OPEN_CASE = "open_case"
_OPENS = (
    "Opens a case: reads dumps, stacks, logs, archives or case directories, and the job's source where it is named. "
    "Answers with the case's name, which the other tools take as `case`. Only what lies in these folders can be "
    "opened: "
)


class OpenCase(Arguments, frozen=True):
    paths: tuple[str, ...]
    """Files, folders or archives with the evidence of one job, in any mix."""
    src: tuple[str, ...] = ()
    """Folders, zip files or wheels with the job's source."""
    git: str | None = None
    """Read the folders of `src` as they were in this commit."""
    hung: bool = False
    """The job did hang: for dumps whose files have lost the time of writing."""
    attempt: int | None = None
    """Which attempt of the job, 1 being the earliest; by default the latest that has most of its ranks."""


def tools(cases: Cases) -> list[types.Tool]:
    listed = [_tool(one.name, one.description, _with_case(one, cases)) for one in TOOLS.values()]
    if cases.roots is not None:
        told = f"{_OPENS}{cases.roots}"
        listed.insert(0, _tool(_OPEN_CASE, told, schema_of(OpenCase)))
    return listed


def call(cases: Cases, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    if name != _OPEN_CASE and name not in TOOLS:
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
    if name == _OPEN_CASE:
        if not isinstance(cases, OpenCases):
            raise ToolError("this server was started for one case, and opens no other")
        try:
            asked = msgspec.convert(arguments, OpenCase, strict=False)
        except msgspec.ValidationError as error:
            raise ToolError(f"{name}: {error}") from error
        return page(open_case(cases, asked))
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


def open_case(cases: OpenCases, asked: OpenCase) -> Iterator[Line]:
    if not asked.paths:
        raise ToolError("open_case needs paths: what the job left behind")
    paths = tuple(map(cases.roots.inside, asked.paths))
    src = tuple(map(cases.roots.inside, asked.src))
    if asked.git is not None and not all(cases.roots.has_history_of(one) for one in src if one.is_dir()):
        raise ToolError(f"git: the repository of the source does not lie in {cases.roots} as a whole")
    options = Options(sources=src, revision=asked.git, hung=asked.hung, attempt=asked.attempt)
    opened = cases.open(Asked(paths, options))
    has_source = opened.bench.tree is not None
    source = "with its source" if has_source else "without source: no line of code can be named"
    yield line(f"The case is open as `{opened.name}`, {source}.")
    yield from OVERVIEW.call(opened.bench, {}).lines
