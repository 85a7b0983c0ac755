"""What words say of lines of code, held against the text of the source: the function, what stands there, and why it
can differ."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rankandfile.lab.blind.arms import arms

from .held import Place, Witness
from .statement import Spoken

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
#: Where ranks went different ways: of one divergence there is one place.
_PARTED = re.compile(rf"\bwent (?:another way|different ways)\b[^.`]*? at {_AT}")
_FURTHER = "that goes back to"
_ENDING = re.compile(r",? (?:and (?:it is|the ranks) never|reduced over) .*$")
_CODE = re.compile(r"\bis set at\b|`[^`]*`|[\w./-]+\.py:\d+")
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
_MOST_LINES = 16
_OWN_DATA = "this rank's own data"
#: A reason -> what some line of the source must have for it.
_SHOWS = {
    "the rank's own number": (
        r"rank|coordinate|process_index|is_main|main process|is_world|mesh|get_group|stage|member|host|\bme\b"
    ),
    "this rank's clock": r"time|clock|monotonic|perf_counter|now|elapsed|deadline|date",
    "a random number of this process": r"rank|rand|shuffle|choice|sample|uniform|normal|dropout|seed|perm|gauss",
    "the files that this rank reads": r"open|exist|path|dir|file|glob|load|read|stat",
    "this process's environment": r"environ|getenv",
    "a signal that this rank alone may get": r"signal",
    "what has reached this rank's queue": r"queue|get|poll|empty|pipe|recv",
    _OWN_DATA: r"batch(?:es)?|data|loader|dataset|shard|share|gradient|computed|holds|sample|item",
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


def two_places(sentence: str) -> Iterator[str]:
    """A sentence that has ranks part at one place, and at another one."""
    places = {f"{match['file'].rpartition('/')[2]}:{match['line']}" for match in _PARTED.finditer(sentence)}
    if len(places) > 1:
        yield f"they part at {sorted(places)} - {sentence[:300]}"


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
    """Its first word is on that line (behind a bracket on the next), and nearly all of them on those that follow."""
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return False
    cut = code.endswith(("...", "…"))
    wanted = _WORD.findall(code.rstrip(".…"))
    wanted = wanted[:-1] if cut and len(wanted) > 1 else wanted
    there = _WORD.findall(" ".join(lines[line - 1 : line - 1 + _MOST_LINES]))
    begins = " ".join(lines[line - 1 : line + (code[:1] in "{[(")])
    return not wanted or (wanted[0] in _WORD.findall(begins) and set(wanted) <= set(there))


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
    because = str(where.get("because") or "")
    # What is this rank's own data is so by its number, a draw, a file: any of them may be shown for it.
    said = {reason for reason in _SHOWS if reason in because and reason != _OWN_DATA}
    if _FURTHER in why:
        # With steps left out: the code of what it depends on may stand in these. What is said of the last one counts.
        shown = _shown(_CODE.sub("", _ENDING.sub("", why.rpartition(_FURTHER)[2])))
        if said and shown and not said & shown:
            yield f"the reason goes back to {sorted(shown)}, and not to {because}: {why}"
        return
    for reason in said - _shown(f"{why} {condition}"):
        yield f"nothing in the reason shows {reason}: {why}"


def _shown(words: str) -> set[str]:
    """The reasons of which there is a word; one in another word, as `time` in `sometimes`, is none."""
    return {
        reason
        for reason, pattern in _SHOWS.items()
        if re.search(rf"(?<![a-z])(?:{pattern})(?:s|ed|d)?(?![a-z])", words, re.IGNORECASE)
    }


def untrue_of_branch(claim: Mapping[str, object], sources: Sources) -> Iterator[str]:
    """A claim of the document that ranks found a test true, or false: the line on which they were seen is not behind
    the other outcome, and the test stands where it is said to."""
    texts, line = sources.of(str(claim["file"])), claim["line"]
    if claim.get("claim") != "took_branch" or not texts or not isinstance(line, int):
        return
    found = [behind for text in texts if (behind := arms(text, line)) is not None]
    if len(found) != 1 or claim.get("shown_in") is not None:
        return
    barred = found[0].false if claim["truth"] else found[0].true
    if claim["shown_by"] in barred:
        yield f"line {claim['shown_by']} is behind the other outcome of {claim['file']}:{line}: {claim}"


def untrue_of_leaving(one: Spoken, witness: Witness, sources: Sources) -> Iterator[str]:
    """Ranks that are said to have left a loop: none of them is inside one that all others are in, and no other is."""
    last = {rank: calls[-1].places for rank, calls in witness.by_rank.items() if calls[-1].places}
    peers = [places for rank, places in last.items() if rank not in one.ranks]
    for rank in one.ranks:
        if rank in last and peers and all(_in_one_loop(last[rank], other, sources) for other in peers):
            yield f"rank {rank} left the loop: it is in it, as the others are - {one.words}"


def _in_one_loop(mine: Sequence[Place], theirs: Sequence[Place], sources: Sources) -> bool:
    """Whether, in the function where two ways part, one loop is around both lines, and none around one alone."""
    ours, others = list(reversed(mine)), list(reversed(theirs))
    at = next((n for n, (a, b) in enumerate(zip(ours, others, strict=False)) if a != b), None)
    if at is None or ours[at][0] != others[at][0]:
        return False
    here, there, deeper = ours[at], others[at], others[at + 1 :]
    loops = [_loops(sources, *place) for place in (here, there)]
    inside = any(_loops(sources, *place) for place in deeper)
    return bool(loops[0]) and loops[0] == loops[1] and not inside


def _loops(sources: Sources, file: str, line: int) -> set[int]:
    """The first lines of the loops around a line, within the function that it is in."""
    found: set[int] = set()
    for text in sources.of(file):
        try:
            nodes = list(ast.walk(ast.parse(text)))
        except SyntaxError:
            continue
        around = [n for n in nodes if isinstance(n, ast.stmt) and n.lineno < line <= (n.end_lineno or 0)]
        functions = [n.lineno for n in around if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        begin = max(functions, default=0)
        found |= {n.lineno for n in around if isinstance(n, ast.For | ast.While) and n.lineno > begin}
    return found
