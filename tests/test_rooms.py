"""The rooms of the house: which folder may know about which. The table is DESIGN's; this test is its lock."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rankandfile

PACKAGE = Path(rankandfile.__file__).parent

ANALYSIS = {"model", "evidence", "reason", "source", "render"}
EVERYTHING = ANALYSIS | {"agent", "capture", "runtime", "cli"}

#: room -> the other rooms it may import
MAY_IMPORT: dict[str, set[str]] = {
    "model": set(),
    "evidence": {"model", "wire"},
    "reason": {"model"},
    "source": {"model"},
    "render": {"model"},
    "agent": ANALYSIS,
    "capture": {"model", "evidence", "reason", "wire"},
    "runtime": {"wire"},
    "guard": {"runtime"},  # the public name of runtime's guards
    "wire": set(),
    "lab": EVERYTHING,
    "cli": EVERYTHING | {"lab"},
}

#: What has no room because every room may import it: the listing of a folder's files.
EVERYBODYS = {"listing"}

#: Third-party packages that the analysis half must never need, not even lazily.
HEAVY = {"torch", "ray", "monarch", "numba", "pandas"}


def modules() -> list[Path]:
    # The lab's programs are the source of real training jobs, run as they are: they are nobody's room.
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "programs" not in path.parts]


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path) -> set[str]:
    """Every absolute dotted name that the module imports, at any depth of nesting."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = ("rankandfile", *path.relative_to(PACKAGE).parts[:-1])
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            name = ".".join(part for part in (base, node.module or "") if part)
            found.add(name)
            found.update(f"{name}.{alias.name}" for alias in node.names)
    return found


def rooms_imported(path: Path) -> set[str]:
    rooms = {name.split(".")[1] for name in imports(path) if name.startswith("rankandfile.")}
    return {room for room in rooms if (PACKAGE / room).is_dir() or (PACKAGE / f"{room}.py").is_file()}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_imports_only_what_the_design_allows(path: Path) -> None:
    room = room_of(path)
    if room in {"__init__", "__main__"} | EVERYBODYS:
        return
    assert room in MAY_IMPORT, f"{path} is in no room of the design"
    forbidden = rooms_imported(path) - MAY_IMPORT[room] - {room} - EVERYBODYS
    assert not forbidden, f"{room} must not import {sorted(forbidden)}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_analysis_half_needs_no_torch(path: Path) -> None:
    if room_of(path) in ANALYSIS | {"agent", "__init__", "__main__"}:
        assert not {name.split(".")[0] for name in imports(path)} & HEAVY


def test_the_rule_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative, nested, function-local import of a forbidden room is seen."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "reason").mkdir()
    bad = tmp_path / "model" / "bad.py"
    bad.write_text("def f():\n    from ..reason import waits\n")
    assert rooms_imported(bad) == {"reason"}


def test_the_process_that_decodes_loads_no_tables() -> None:
    """Its memory is limited: what a library takes is missing for the file."""
    script = "import sys, rankandfile.evidence.worker; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_a_cause_means_is_known_without_tables() -> None:
    script = (
        "import sys; from rankandfile.model.causes import CAUSES; print(len(CAUSES), 'polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["28", "False"]
