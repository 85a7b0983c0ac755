"""The graph of waits as text: for Graphviz (`raf show waits dumps/ --format dot | dot -Tsvg`), and for Mermaid, which
GitHub, GitLab and many wikis draw in a page."""

from __future__ import annotations

import re

from rankandfile.model.pictures import WaitGraph, WaitNode

from .words import plain, ranks_named

_FILL = {"culprit": "#f4c7c3", "victim": "#e8eaed", "": "#ffffff"}

#: Everything else is written for Mermaid as an entity: a label then holds no quote, no markup and no word of its own.
_SAFE = re.compile(r"[^\w .,:/()\-]", re.ASCII)


def dot(graph: WaitGraph) -> str:
    lines = [
        "digraph waits {",
        "  rankdir=LR;",
        '  node [shape=box, style=filled, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    for number, node in enumerate(graph.nodes):
        shape = ", shape=ellipse" if node.call else ", penwidth=2" if node.role == "culprit" else ""
        lines.append(
            f"  n{number} [label={_quoted(_words(node))}, fillcolor={_quoted([_FILL[node.role]])}{shape}];"
        )
    for edge in graph.edges:
        looks = [
            *([] if edge.known else ["style=dashed", 'label="not known to have joined"']),
            *(['color="#c5221f"', "penwidth=2"] if edge.cycle else []),
        ]
        tail = f" [{', '.join(looks)}]" if looks else ""
        lines.append(f"  n{edge.source} -> n{edge.target}{tail};")
    if graph.left_out:
        lines.append(f'  more [label="{graph.left_out:,} more ranks wait", shape=plaintext, style=""];')
    return "\n".join([*lines, "}"])


def _words(node: WaitNode) -> list[str]:
    """What stands in a node, line by line. Without colour it still says who is blamed."""
    if node.call:
        return [node.call, *node.says]
    who = ranks_named(node.ranks)
    return [f"culprit: {who}" if node.role == "culprit" else who, *node.says]


def _quoted(lines: list[str]) -> str:
    """A string of DOT: the backslash, which would begin an escape, is doubled."""
    return '"' + "\\n".join(plain(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def mermaid(graph: WaitGraph) -> str:
    lines = ["flowchart LR"]
    for number, node in enumerate(graph.nodes):
        label = "<br/>".join(_safe(line) for line in _words(node))
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
