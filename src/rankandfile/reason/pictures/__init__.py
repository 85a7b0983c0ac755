"""What is drawn of a diagnosis, worked out: the score, the graph of waits, the tree of stacks."""

from __future__ import annotations

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import Pictures
from rankandfile.reason.facts import Facts

from .score import score
from .stack_tree import stack_tree
from .wait_graph import wait_graph


def pictures(facts: Facts, diagnosis: Diagnosis) -> Pictures:
    return Pictures(
        score=score(facts, diagnosis), waits=wait_graph(facts, diagnosis), stacks=stack_tree(facts, diagnosis)
    )
