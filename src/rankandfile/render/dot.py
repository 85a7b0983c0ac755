"""The graph of waits for Graphviz: `raf show waits dumps/ --format dot | dot -Tsvg`."""

from __future__ import annotations

from rankandfile.model.pictures import WaitGraph, WaitNode

from .words import plain, ranks_named

_FILL = {"culprit": "#f4c7c3", "victim": "#e8eaed", "": "#ffffff"}


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
            f"  n{number} [label={_quoted(words_of(node))}, fillcolor={_quoted([_FILL[node.role]])}{shape}];"
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


def words_of(node: WaitNode) -> list[str]:
    """What stands in a node, line by line. Without colour it still says who is blamed."""
    if node.call:
        return [node.call, *node.says]
    who = ranks_named(node.ranks)
    return [f"culprit: {who}" if node.role == "culprit" else who, *node.says]


def _quoted(lines: list[str]) -> str:
    """A string of DOT: the backslash, which would begin an escape, is doubled."""
    return '"' + "\\n".join(plain(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
