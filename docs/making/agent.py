"""The tables of the page on coding agents: tools, resources and prompts as the server lists them."""

from __future__ import annotations

from pathlib import Path

from rankandfile.agent.registry import TOOLS

from .causes import between

_PAGE = Path(__file__).parents[1] / "agent.md"


def page() -> str:
    # They load the SDK of the protocol, and each process that shares the tests imports this file.
    from rankandfile.agent.mcp.prompts import PROMPTS
    from rankandfile.agent.mcp.resources import DOCUMENTS

    text = _PAGE.read_text(encoding="utf-8")
    tools = [
        (f"`{one.name}`", _arguments(one.schema()["properties"]), one.description) for one in TOOLS.values()
    ]
    documents = [(f"`{name}`", one.mime, one.told) for name, one in DOCUMENTS.items()]
    prompts = [(f"`{name}`", _arguments(one.arguments), one.told) for name, one in PROMPTS.items()]
    text = between(text, "tools", _table(("tool", "arguments", "answers"), tools))
    text = between(text, "resources", _table(("name", "type", "holds"), documents))
    return between(text, "prompts", _table(("prompt", "arguments", "asks the agent to"), prompts))


def _arguments(names: dict[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names if name != "cursor")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    cells = [head, ("---",) * len(head), *(tuple(one.replace("|", "\\|") for one in row) for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
