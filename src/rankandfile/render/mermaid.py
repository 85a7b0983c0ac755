"""The graph of waits for Mermaid, which GitHub, GitLab and many wikis draw in a page."""

from __future__ import annotations

import re

from rankandfile.model.pictures import WaitGraph

from .dot import words_of
from .words import plain

#: Everything else is written as an entity: a label then holds no quote, no markup and no word of Mermaid's own.
_SAFE = re.compile(r"[^\w .,:/()\-]", re.ASCII)


def mermaid(graph: WaitGraph) -> str:
    lines = ["flowchart LR"]
    for number, node in enumerate(graph.nodes):
        label = "<br/>".join(_safe(line) for line in words_of(node))
        opening, closing = ('(["', '"])') if node.call else ('["', '"]')
        lines.append(f"  n{number}{opening}{label}{closing}")
    circle = []
    for number, edge in enumerate(graph.edges):
        arrow = "-->" if edge.known else '-. "not known to have joined" .->'
        lines.append(f"  n{edge.source} {arrow} n{edge.target}")
        if edge.cycle:
            circle.append(str(number))
    if graph.left_out:
        lines.append(f'  more["{graph.left_out:,} more ranks wait"]')
    culprits = [f"n{number}" for number, node in enumerate(graph.nodes) if node.role == "culprit"]
    if culprits:
        lines.append(
            f"  style {','.join(culprits)} fill:#f4c7c3,stroke:#c5221f,stroke-width:2px,color:#202124"
        )
    if circle:
        lines.append(f"  linkStyle {','.join(circle)} stroke:#c5221f,stroke-width:2px")
    return "\n".join(lines)


def _safe(words: str) -> str:
    return _SAFE.sub(lambda found: f"#{ord(found[0])};", plain(words))
