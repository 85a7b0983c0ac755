"""The graph of waits as DOT and as Mermaid: nothing in a label ends it, and the picture says who is blamed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from support.render import hostile

from rankandfile.model.pictures import WaitEdge, WaitGraph, WaitNode
from rankandfile.render.wait_graphs import dot, mermaid


def chain() -> WaitGraph:
    return WaitGraph(
        nodes=[
            WaitNode(ranks="3", count=1, role="culprit", says=["in _read, data.py:28"]),
            WaitNode(ranks="0-2", count=3, role="victim", says=["all_gather #97 fsdp.py:13 (mesh_shard)"]),
            WaitNode(ranks="4-7", count=4, role="victim", says=["all_reduce #9 optim.py:10 (mesh_dp)"]),
            WaitNode(ranks="", count=0, role="", call="barrier #3", says=["all have joined"]),
        ],
        edges=[
            WaitEdge(source=1, target=0),
            WaitEdge(source=2, target=1, known=False),
            WaitEdge(source=2, target=3),
        ],
        left_out=16376,
    )


def circle() -> WaitGraph:
    nodes = [WaitNode(ranks=str(rank), count=1, role="", says=[hostile.NASTY]) for rank in range(2)]
    edges = [WaitEdge(source=0, target=1, cycle=True), WaitEdge(source=1, target=0, cycle=True)]
    return WaitGraph(nodes=nodes, edges=edges)


NODE = re.compile(r'  n\d+ \[label="(?:[^"\\]|\\["\\n])*", fillcolor="#\w{6}"(, \w+=\w+)*\];')
EDGE = re.compile(r'  n\d+ -> n\d+( \[[^\]"]*("[^"]*"[^\]"]*)*\])?;')


@pytest.mark.parametrize("graph", [chain(), circle(), WaitGraph()], ids=["chain", "hostile", "empty"])
def test_dot_has_a_line_for_each_node_and_edge(graph: WaitGraph) -> None:
    head, *lines, last = dot(graph).split("\n")
    assert (head, last) == ("digraph waits {", "}")
    assert sum(bool(NODE.fullmatch(line)) for line in lines) == len(graph.nodes)
    assert sum(bool(EDGE.fullmatch(line)) for line in lines) == len(graph.edges)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("graph", [chain(), circle(), WaitGraph()], ids=["chain", "hostile", "empty"])
def test_graphviz_draws_it(graph: WaitGraph) -> None:
    done = subprocess.run(
        ["dot", "-Tplain"], input=dot(graph).encode(), capture_output=True, timeout=300, check=True
    )
    drawn = [line.split(" ")[0] for line in done.stdout.decode().splitlines()]
    assert drawn.count("edge") == len(graph.edges)
    assert drawn.count("node") == len(graph.nodes) + bool(graph.left_out)
    assert not done.stderr


def test_the_culprit_is_named_in_words_and_what_is_not_known_is_dashed() -> None:
    drawn = dot(chain())
    assert 'label="culprit: rank 3\\nin _read, data.py:28"' in drawn
    assert 'n2 -> n1 [style=dashed, label="not known to have joined"];' in drawn
    assert "16,376 more ranks wait" in drawn


LINE = re.compile(
    r'flowchart LR|  \w+(\["[\w .,:/()#;<>-]*"\]|\(\["[\w .,:/()#;<>-]*"\]\))|'
    r'  n\d+ (-->|-\. "[\w ]+" \.->) n\d+|  (style|linkStyle) [\w,]+ [\w:#,-]+',
    re.ASCII,
)


@pytest.mark.parametrize("graph", [chain(), circle(), WaitGraph()], ids=["chain", "hostile", "empty"])
def test_mermaid_labels_hold_nothing_but_text(graph: WaitGraph) -> None:
    for line in mermaid(graph).split("\n"):
        assert LINE.fullmatch(line), line
        assert set(re.findall("<[^>]*>?", line)) <= {"<br/>"}


def test_mermaid_marks_the_culprit_and_the_circle() -> None:
    assert "  style n0 fill:" in mermaid(chain())
    assert "  linkStyle 0,1 stroke:" in mermaid(circle())
