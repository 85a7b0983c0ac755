"""All tools, in the order of the workflow: one a file in `tools/`, found there."""

from __future__ import annotations

from typing import Any

from rankandfile import listing

from .bench import Bench
from .result import Page
from .tool import Tool, ToolError

TOOLS: dict[str, Tool] = {tool.name: tool for tool in listing.members(f"{__package__}.tools", "TOOL", Tool)}


def call(bench: Bench, name: str, arguments: dict[str, Any]) -> Page:
    """Raises ToolError with a sentence that whoever asks can act on."""
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolError(f"there is no tool '{name[:80]}'; there are {', '.join(TOOLS)}")
    return tool.call(bench, arguments)
