"""Whether the dependence engine says the same in whatever order it is asked.

    python benchmarks/order_of_questions.py FOLDER [QUESTIONS]

asks why decisions differ and what calls are made on, of functions drawn at random: each with an engine of its own, then
all with one engine in four orders. Prints how many answers are not those of the engine that was asked nothing before.
"""

from __future__ import annotations

import ast
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from rankandfile.source.dependence import ask_in_depth, objects_of, why
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import index_of
from rankandfile.source.flow.build import graph_of
from rankandfile.source.lint.program import opened
from rankandfile.source.program.modules import Function, Program

Question = tuple[str, Function, ast.expr]


def main(folder: Path, most: int) -> int:
    sys.setrecursionlimit(4000)
    program = Program(opened([folder])[0])
    every = [q for module in index_of(program).modules for f in module.functions for q in questions(f)]
    chosen = random.Random(1).sample(every, min(most, len(every)))
    alone = [asked(program, [question])[0] for question in chosen]
    differing: dict[str, set[int]] = {"why": set(), "objects": set()}
    began = time.process_time()
    for seed in range(4):
        order = list(range(len(chosen)))
        random.Random(seed).shuffle(order)
        together = asked(program, [chosen[number] for number in order])
        for number, answer in zip(order, together, strict=True):
            if answer != alone[number]:
                differing[chosen[number][0]].add(number)
    took = (time.process_time() - began) / 4
    for kind, numbers in differing.items():
        of = sum(question[0] == kind for question in chosen)
        print(f"{kind}: {len(numbers)} of {of} differ")
    print(f"{took:.1f} s for {len(chosen)} questions of {len(every)}")
    return 1 if any(differing.values()) else 0


def questions(function: Function) -> Iterator[Question]:
    for node in graph_of(function).nodes:
        if node.decision is not None and isinstance(node.what, ast.expr):
            yield "why", function, node.what
        if isinstance(node.what, ast.Call) and isinstance(node.what.func, ast.Attribute):
            yield "objects", function, node.what.func.value


def asked(program: Program, chosen: list[Question]) -> list[object]:
    """The answers of a new engine."""
    ask_in_depth(program)
    found: list[object] = []
    for kind, function, e in chosen:
        if kind == "why":
            found.append(why(program, function, e))
        else:
            instances = objects_of(program).of(e, Frame(function))
            found.append(sorted((repr(each.type)[:200], id(each.made)) for each in instances))
    return found


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1500))
