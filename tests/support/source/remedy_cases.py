"""Small programs for the tests of patches: files in memory, and the problem at a line that is found by its text."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent
from typing import Any

from rankandfile.source.remedies import Patch, Problem, Refusal, patched


class Texts:
    """Source files in memory."""

    def __init__(self, **files: str) -> None:
        self.files = {f"{name}.py": dedent(text).lstrip("\n") for name, text in files.items()}

    def paths(self) -> Iterable[str]:
        return self.files

    def read(self, path: str) -> str | None:
        return self.files.get(path)


def problem(files: Texts, anchor: str, file: str = "train.py", **known: Any) -> Problem:
    """The problem at the one line of the file that has the text."""
    text = files.read(file)
    assert text is not None
    (line,) = [n for n, code in enumerate(text.split("\n"), 1) if anchor in code]
    return Problem(**{"cause": "rank_conditional", "file": file, "line": line, **known})


def changed(
    files: Texts, anchor: str, *, plain: bool = False, file: str = "train.py", **known: Any
) -> list[str]:
    """The lines that the patch takes away and adds, without the functions and imports it brings along."""
    patch = patched(problem(files, anchor, file, **known), files, plain)
    assert isinstance(patch, Patch), patch
    lines = [
        line for line in patch.diff.split("\n") if line[:1] in "+-" and not line.startswith(("+++", "---"))
    ]
    return [f"{line[0]} {line[1:].strip()}" for line in lines if line[1:].strip() and "import" not in line]


def refused(files: Texts, anchor: str, **known: Any) -> str:
    answer = patched(problem(files, anchor, **known), files)
    assert isinstance(answer, Refusal), answer
    return answer.words
