"""All tools, in the order of the workflow."""

from __future__ import annotations

from typing import Any

from .bench import Bench
from .result import Page
from .tool import Tool, ToolError
from .tools import (
    callers,
    calls,
    cohorts,
    control_flow,
    definition,
    divergence,
    evidence,
    explain,
    git_blame,
    git_log,
    hypotheses,
    logs,
    overview,
    progress,
    propose_verdict,
    remedies,
    source,
    stacks,
    test_hypothesis,
    waits,
    why_differs,
)

_MODULES = (
    overview,
    progress,
    cohorts,
    waits,
    divergence,
    explain,
    calls,
    stacks,
    logs,
    evidence,
    source,
    definition,
    callers,
    control_flow,
    why_differs,
    git_blame,
    git_log,
    hypotheses,
    test_hypothesis,
    propose_verdict,
    remedies,
)

TOOLS: dict[str, Tool] = {module.TOOL.name: module.TOOL for module in _MODULES}


def call(bench: Bench, name: str, arguments: dict[str, Any]) -> Page:
    """Raises ToolError with a sentence that whoever asks can act on."""
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolError(f"there is no tool '{name[:80]}'; there are {', '.join(TOOLS)}")
    return tool.call(bench, arguments)
