"""The rooms of the house: which folder may know about which. The table is DESIGN's; this test is its lock."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import rankandfile

PACKAGE = Path(rankandfile.__file__).parent

ANALYSIS = {"model", "evidence", "reason", "source", "doctor", "render"}
EVERYTHING = ANALYSIS | {"pipeline", "agent", "capture", "cluster", "runtime", "tower", "editor", "cli"}

#: What has no room because every room may import it: the listing of a folder's files, the way to start a Python,
#: the names by which torch's recorder is told what to do.
EVERYBODYS = {"listing", "own_python", "recorder_names"}

#: room -> the other rooms it may import
MAY_IMPORT: dict[str, set[str]] = {
    "model": set(),
    "evidence": {"model", "wire"},
    "reason": {"model"},
    "source": {"model"},
    "doctor": {"model", "evidence"},
    "render": {"model"},
    "pipeline": {"model", "evidence", "reason", "source"},
    "api": ANALYSIS | {"cluster", "pipeline"},
    "agent": ANALYSIS | {"pipeline"},
    "capture": {"model", "evidence", "reason", "wire"},
    "cluster": {"model", "evidence"},
    "tower": {"model", "capture", "render"},
    "runtime": {"wire"},
    "guard": {"runtime"},  # the public name of runtime's guards
    "control": {"runtime"},  # and of its plans
    "trainers": {"runtime"},  # and of what trainers tell
    "pytest_plugin": {"capture", "runtime"},
    "wire": set(),
    "editor": {"model", "source"},
    "lab": EVERYTHING - {"cli", "cluster", "editor", "tower"},
    "cli": EVERYTHING - {"cli"} | {"lab"},
}

MOST_LINES = 300
MOST_MODULES = 25
#: Folders that are lists by nature: the more they hold, the better.
LISTS = {
    "agent/tools",
    "cli/commands",
    "doctor/checks",
    "evidence/files/kinds",
    "evidence/text/logs/shapes",
    "evidence/text/stacks/formats",
    "lab/scenarios",
    "reason/causes",
    "render/formats",
    "source/remedies/patterns",
    "source/rules",
}

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


@pytest.mark.parametrize(
    "room", sorted({room_of(path) for path in modules()} - {"__init__", "__main__"} - EVERYBODYS)
)
def test_a_room_imports_only_what_the_design_allows(room: str) -> None:
    assert room in MAY_IMPORT, f"{room} is no room of the design"
    forbidden = {
        str(path.relative_to(PACKAGE)): sorted(more)
        for path in modules()
        if room_of(path) == room and (more := rooms_imported(path) - MAY_IMPORT[room] - {room} - EVERYBODYS)
    }
    assert not forbidden, f"{room} must not import these"


@pytest.mark.parametrize("room", sorted(ANALYSIS | {"pipeline", "api", "agent", "__init__", "__main__"}))
def test_the_analysis_half_needs_no_torch(room: str) -> None:
    needs = {
        str(path.relative_to(PACKAGE)): sorted(heavy)
        for path in modules()
        if room_of(path) == room and (heavy := {name.split(".")[0] for name in imports(path)} & HEAVY)
    }
    assert not needs


@pytest.mark.parametrize("path", [p for p in modules() if room_of(p) in EVERYBODYS])
def test_what_every_room_imports_needs_only_the_standard_library(path: Path) -> None:
    assert {name.split(".")[0] for name in imports(path)} <= sys.stdlib_module_names


def test_a_module_can_be_read_in_one_sitting() -> None:
    lines = {str(path.relative_to(PACKAGE)): len(path.read_text("utf-8").splitlines()) for path in modules()}
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}


def test_a_folder_can_be_looked_over_unless_it_is_a_list_by_nature() -> None:
    """Its own modules; what lies in its folders counts there."""
    held = Counter(
        path.parent.relative_to(PACKAGE).as_posix() for path in modules() if path.stem != "__init__"
    )
    assert set(held) >= LISTS, "a folder that is gone is no exception"
    assert not {name: count for name, count in held.items() if count > MOST_MODULES and name not in LISTS}


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
    script = "import sys, rankandfile.evidence.files.worker; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_source_is_read_without_tables(tmp_path: Path) -> None:
    """`raf lint` runs at every save and in every commit: what it does not need is not loaded."""
    (tmp_path / "train.py").write_text("import torch.distributed as dist\n\ndist.barrier()\n")
    script = (
        "import sys; from pathlib import Path; from rankandfile.source.lint.run import lint; "
        "lint([Path(sys.argv[1])]); print('polars' in sys.modules)"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_a_cause_means_is_known_without_tables() -> None:
    script = (
        "import sys; from rankandfile.model.causes import CAUSES; print(len(CAUSES), 'polars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    number, tables = done.stdout.split()
    assert int(number) > 20 and tables == "False"
