"""Processes of our own Python: nothing of the current folder runs in them, whichever Python it is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankandfile

PYTHONS = {name: shutil.which(name) for name in (f"python3.{minor}" for minor in range(10, 16))} | {
    "this one": sys.executable
}
ASK = "import os, sys; sys.path.insert(0, {src!r}); from rankandfile.own_python import own_python; \
command = own_python('import json, linecache'); os.chdir({planted!r}); os.execv(command[0], command)"


@pytest.mark.parametrize("python", PYTHONS)
def test_what_lies_in_the_current_folder_is_not_imported(python: str, tmp_path: Path) -> None:
    """Python 3.13 imports `linecache` from there before the first word of the program that it is given."""
    program = PYTHONS[python]
    if program is None or subprocess.run([program, "--version"], capture_output=True).returncode:
        pytest.skip("not installed")
    planted, ran = tmp_path / "planted", tmp_path / "ran"
    planted.mkdir()
    for name in sys.stdlib_module_names:
        (planted / f"{name}.py").write_text(f"open({str(ran)!r}, 'a').write('{name} ')\n")
    src = str(Path(rankandfile.__file__).parents[1])
    done = subprocess.run([program, "-c", ASK.format(src=src, planted=str(planted))], capture_output=True)
    assert not ran.exists(), ran.read_text()
    assert done.returncode == 0, done.stderr


def test_the_current_folder_is_not_looked_at_by_a_python_that_can_be_told_so() -> None:
    from rankandfile.own_python import own_python

    said = subprocess.run(own_python("print(getattr(sys.flags, 'safe_path', True))"), capture_output=True)
    assert said.stdout == b"True\n"
