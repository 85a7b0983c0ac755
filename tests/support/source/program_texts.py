"""Programs for the tests of rank dependence, from text."""

from __future__ import annotations

import textwrap

from rankandfile.source.dependence import Reason, why
from rankandfile.source.flow import Condition, conditions_at
from rankandfile.source.program.modules import Function, Program


class Texts:
    """Files in memory."""

    def __init__(self, **files: str) -> None:
        self.files = {f"{name}.py": textwrap.dedent(text) for name, text in files.items()}

    def paths(self) -> list[str]:
        return list(self.files)

    def read(self, path: str) -> str | None:
        return self.files.get(path)


def place(files: Texts, words: str) -> tuple[Program, Function, int]:
    """The program, and the function and line with these words on it; they must stand on one line only."""
    program = Program(files)
    hits = [
        (p, n) for p, t in files.files.items() for n, line in enumerate(t.splitlines(), 1) if words in line
    ]
    assert len(hits) == 1, hits
    path, line = hits[0]
    module = program.module(path)
    assert module is not None
    function = module.function_at(line)
    assert function is not None
    return program, function, line


def condition(files: Texts, words: str) -> tuple[Program, Function, Condition]:
    program, function, line = place(files, words)
    return program, function, conditions_at(function, line)[0]


def reason(words: str, **files: str) -> Reason:
    """Why the decision on the line with these words can differ."""
    return why(*condition(Texts(**files), words))
