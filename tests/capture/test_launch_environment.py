"""The recorder's way into a Python of the job: it is in, and what the user has there works as ever."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from rankandfile.capture.launch.environment import job_environment

pytestmark = pytest.mark.slow

#: Enough of torch for the hook: its place is taken before the first group.
TORCH = {
    "torch/__init__.py": "",
    "torch/distributed/__init__.py": "from .distributed_c10d import init_process_group",
    "torch/distributed/distributed_c10d.py": "def init_process_group(backend=None): pass",
}
SITES = {
    "sitecustomize.py": "import builtins, torch_free; builtins.own_site = True",
    "torch_free.py": "",
    "users.pth": "import builtins; builtins.own_pth = True\n",
}
CODE = """
import builtins, sys, torch.distributed as dist
print(
    hasattr(dist.init_process_group, "__wrapped__"),
    hasattr(dist.distributed_c10d.init_process_group, "__wrapped__"),
    getattr(builtins, "own_site", None), getattr(builtins, "own_pth", None), getattr(builtins, "startup", None),
    sys.modules["sitecustomize"].__file__.endswith("site-packages/sitecustomize.py"),
    any("inject" in entry for entry in sys.path),
)
"""
IN, USERS_OWN = ["True", "True"], ["True", "True"]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment that is not ours: it has packages of its own, and not this one."""
    folder = tmp_path_factory.mktemp("other") / "venv"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/*/site-packages")
    for name, text in {**TORCH, **SITES}.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    (folder / "startup.py").write_text("import builtins; builtins.startup = True")
    return folder / "bin" / "python"


def said(python: Path, tmp_path: Path, *arguments: str, given: str = "", **env: str) -> list[str]:
    base = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RAF"))}
    made = job_environment({**base, **env}, tmp_path, tmp_path, os.getpid())
    done = subprocess.run(
        [str(python), *arguments],
        env=made,
        input=given,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_command_line(python: Path, tmp_path: Path) -> None:
    assert said(python, tmp_path, "-c", CODE) == [*IN, *USERS_OWN, "None", "True", "False"]


def test_a_module_with_entries_of_the_users_in_the_path(python: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "program.py").write_text(CODE)
    told = said(python, tmp_path, "-m", "program", PYTHONPATH="elsewhere")
    assert told[:4] == [*IN, *USERS_OWN]
    assert told[-1] == "False"


def test_an_interactive_python(python: Path, tmp_path: Path) -> None:
    startup = str(python.parent.parent / "startup.py")
    program = f"exec({CODE!r})\n"
    assert said(python, tmp_path, "-i", given=program, PYTHONSTARTUP=startup)[:5] == [*IN, *USERS_OWN, "True"]


def test_the_python_of_raf_itself(tmp_path: Path) -> None:
    """With the user's `sitecustomize` on the path."""
    for name, text in {**TORCH, **SITES}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    told = said(Path(sys.executable), tmp_path, "-c", CODE, PYTHONPATH=str(tmp_path))
    assert told[:3] == [*IN, "True"]
