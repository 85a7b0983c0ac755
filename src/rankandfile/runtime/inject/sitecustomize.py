"""Loaded by every Python of a job under `raf run`, which puts this folder in front of PYTHONPATH.

It steps aside for the user's own `sitecustomize` and waits: the recorder starts in a process that creates a process
group, just before it does. Launchers, data loaders and other helpers are left as they were. Nothing in here raises.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

# Plain strings: every Python of the job loads this, and `pathlib` takes longer than all of it.
_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_PACKAGE = os.path.dirname(os.path.dirname(_FOLDER))  # noqa: PTH120
_WANTED = "torch.distributed.distributed_c10d"


class _Finder:
    """Hears of the one import that matters, and leaves finding the module to everybody else."""

    def find_spec(self, name: str, *_: Any) -> Any:
        if name != _WANTED or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec: Any = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                _wait_for_a_group(module)

            spec.loader.exec_module = exec_module
        return spec


def _wait_for_a_group(module: Any) -> None:
    """Starting at the first group and not at this import: torch is whole by then, and most processes make none."""
    try:
        _load_package()
        from rankandfile.runtime import injected

        injected.before_first_group(module)
    except Exception as error:
        sys.stderr.write(f"raf: not recording: {type(error).__name__}: {error}\n")


def _take_own_streams() -> None:
    """A rank that its launcher has told so, from its first line on; others when they make a group."""
    try:
        _load_package()
        from rankandfile.runtime import own_streams

        own_streams.take(os.environ)
    except Exception as error:
        sys.stderr.write(f"raf: no log of its own: {type(error).__name__}: {error}\n")


def _load_package() -> None:
    """The job's own environment need not have this package: then it is loaded from where this file lies."""
    if "rankandfile" in sys.modules or importlib.util.find_spec("rankandfile") is not None:
        return
    init = f"{_PACKAGE}/__init__.py"
    spec: Any = importlib.util.spec_from_file_location(
        "rankandfile", init, submodule_search_locations=[_PACKAGE]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["rankandfile"] = package
    spec.loader.exec_module(package)


def _make_way() -> None:
    """Load the `sitecustomize` that would have been loaded without this one. What it raises is its own affair."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _FOLDER]  # noqa: PTH100
    own = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:
            sys.modules.setdefault("sitecustomize", own)


if "RAF_RUN" in os.environ:
    sys.meta_path.insert(0, _Finder())
    if all(os.environ.get(name) for name in ("RAF_STREAMS", "RANK", "LOCAL_RANK")):
        _take_own_streams()
if __name__ == "sitecustomize":
    _make_way()
