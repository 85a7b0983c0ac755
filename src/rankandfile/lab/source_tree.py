"""The source tree of a scenario: base program, planted fault, accepted fix; and anchors looked up in it."""

from __future__ import annotations

import ast
import difflib
import shutil
from pathlib import Path

from rankandfile.lab.scenario import At, Edit, Scenario
from rankandfile.lab.truth import LocationTruth

PROGRAMS = Path(__file__).parent / "programs"


class ScenarioError(Exception):
    """The scenario does not do what it says; the message tells which part."""


def build(scenario: Scenario, target: Path, *, fixed: bool) -> None:
    """Write the tree as it runs: the faulty one, or the one with the accepted fix."""
    shutil.copytree(PROGRAMS / scenario.program, target, ignore=shutil.ignore_patterns("__pycache__"))
    if fixed and not scenario.fix:
        return
    for edit in (*scenario.fault, *(scenario.fix if fixed else ())):
        _apply(edit, target, scenario.name)
    for path in sorted(target.rglob("*.py")):
        compile(path.read_text(), str(path), "exec")


def _apply(edit: Edit, tree: Path, name: str) -> None:
    path = tree / edit.file
    if not edit.before:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit.after)
        return
    text = path.read_text()
    if text.count(edit.before) != 1:
        raise ScenarioError(f"{name}: {edit.file} has {text.count(edit.before)} places like {edit.before!r}")
    path.write_text(text.replace(edit.before, edit.after))


def diff(faulty: Path, fixed: Path) -> str:
    """Unified diff from the faulty tree to the fixed one."""
    names = sorted({str(p.relative_to(t)) for t in (faulty, fixed) for p in t.rglob("*") if p.is_file()})
    out: list[str] = []
    for name in names:
        old, new = (_lines(tree / name) for tree in (faulty, fixed))
        out.extend(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))
    return "".join(out)


def _lines(path: Path) -> list[str]:
    # Data of the program may lie beside it: a table, an image.
    return path.read_text(errors="replace").splitlines(keepends=True) if path.exists() else []


def locate(at: At, tree: Path, name: str) -> LocationTruth:
    """File, line, innermost function and condition of an anchor."""
    lines = (tree / at.file).read_text().splitlines()
    hits = [i for i, line in enumerate(lines, 1) if at.anchor in line]
    if len(hits) != 1:
        raise ScenarioError(f"{name}: anchor {at.anchor!r} is on {len(hits)} lines of {at.file}")
    condition = at.condition or lines[hits[0] - 1].strip()
    return LocationTruth(file=at.file, line=hits[0], function=_function(lines, hits[0]), condition=condition)


def _function(lines: list[str], line: int) -> str:
    best, best_start = "<module>", 0
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            start, end = node.lineno, node.end_lineno or node.lineno
            if start <= line <= end and start > best_start:
                best, best_start = node.name, start
    return best
