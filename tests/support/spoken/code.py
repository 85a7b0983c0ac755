"""What words say of lines of code, held against the text of the source: the function, what stands there, and why it
can differ."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_AT = r"(?P<file>[\w./-]+\.py):(?P<line>\d+)"
#: `trainer.py:40, in fit`, `trainer.py:40 in fit`.
_IN_FUNCTION = re.compile(
    rf"{_AT},? in (?!(?:the|its|that|most|each|backward|forward)\b)(?P<function>[A-Za-z_]\w*)(?=$|[,.;:)]| \()"
)
#: Code in quotes that is said to stand at a place, before it or behind it.
_QUOTED = (
    re.compile(rf"(?<!along )`(?P<code>[^`]+)` \((?:[^()]* )?{_AT}(?: in [\w.<>]+)?\)"),
    re.compile(rf"{_AT}, in [\w.<>]+, (?:by|upon) `(?P<code>[^`]+)`"),
    re.compile(rf"`(?P<code>[^`]+)` is set at {_AT}"),
)
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
_MOST_LINES = 16
#: A reason -> what some line of the source must have for it.
_SHOWS = {
    "the rank's own number": r"rank|coordinate|process_index|is_main|is_world|mesh|get_group|stage|member|host|\bme\b",
    "this rank's clock": r"time|clock|monotonic|perf_counter|now|elapsed|deadline|date",
    "a random number of this process": r"rank|rand|shuffle|choice|sample|uniform|normal|dropout|seed|perm|gauss",
    "the files that this rank reads": r"open|exist|path|dir|file|glob|load|read|stat",
    "this process's environment": r"environ|getenv",
    "a signal that this rank alone may get": r"signal",
    "what has reached this rank's queue": r"queue|get|poll|empty|pipe|recv",
    "the order of a set, which differs from process to process": r"set|\{|hash|dict|vars|keys",
}


@dataclass(frozen=True)
class Sources:
    texts: Mapping[str, str]
    """Path -> text."""

    @classmethod
    def below(cls, *folders: Path) -> Sources:
        found = (path for folder in folders for path in sorted(folder.rglob("*.py")))
        return cls({str(path): path.read_text(errors="replace") for path in found})

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path, text in self.texts.items():
            found.setdefault(path.rpartition("/")[2], []).append(text)
        return found

    def of(self, file: str) -> list[str]:
        """The texts that the words may mean; none of a library's file."""
        return self.by_name.get(file.replace("\\", "/").rpartition("/")[2], [])


def untrue_of_code(words: str, sources: Sources) -> Iterator[str]:
    for match in _IN_FUNCTION.finditer(words):
        texts, line = sources.of(match["file"]), int(match["line"])
        if texts and not any(_spans(text, match["function"], line) for text in texts):
            yield f"line {line} of {match['file']} is not in {match['function']} - {words[:300]}"
    for pattern in _QUOTED:
        for match in pattern.finditer(words):
            texts, line = sources.of(match["file"]), int(match["line"])
            if texts and not any(_stands(text, match["code"], line) for text in texts):
                yield f"`{match['code']}` does not stand at {match['file']}:{line} - {words[:300]}"


def _spans(text: str, function: str, line: int) -> bool:
    if (
        function in ("most", "its", "the", "that", "round", "step", "place", "which", "turn")
        and function not in text
    ):
        return True
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return True
    for node in ast.walk(tree):
        named = (
            isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == function
        )
        if named and _first(node) <= line <= (node.end_lineno or 0):
            return True
    return False


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _stands(text: str, code: str, line: int) -> bool:
    """Its first word is on that line, and as good as all of them on it and those that go on from there."""
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return False
    cut = code.endswith(("...", "…"))
    wanted = _WORD.findall(code.rstrip(".…"))
    wanted = wanted[:-1] if cut and len(wanted) > 1 else wanted
    there = _WORD.findall(" ".join(lines[line - 1 : line - 1 + _MOST_LINES]))
    return not wanted or (wanted[0] in _WORD.findall(lines[line - 1]) and set(wanted) <= set(there))


def untrue_of_location(where: Mapping[str, object], sources: Sources) -> Iterator[str]:
    """`location` of a verdict in the document: its function, its condition, and the reason for it."""
    file, line = str(where.get("file") or ""), where.get("line")
    texts = sources.of(file)
    if not texts or not isinstance(line, int):
        return
    function, condition = where.get("function"), where.get("condition")
    if (
        isinstance(function, str)
        and re.fullmatch(r"\w+", function)
        and not any(_spans(t, function, line) for t in texts)
    ):
        yield f"line {line} of {file} is not in {function}"
    at = where.get("condition_line")
    if (
        isinstance(condition, str)
        and isinstance(at, int)
        and not any(_stands(t, condition, at) for t in texts)
    ):
        yield f"`{condition}` does not stand at {file}:{at}"
    why = str(where.get("why_it_can_differ") or "")
    yield from untrue_of_code(why, sources)
    if "that goes back to" in why:  # with steps left out: what it depends on may stand in these
        return
    for reason, pattern in _SHOWS.items():
        if reason in str(where.get("because") or "") and not re.search(
            pattern, f"{why} {condition}", re.IGNORECASE
        ):
            yield f"nothing in the reason shows {reason}: {why}"
