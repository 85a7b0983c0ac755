"""Modules that load heavy libraries, for files of tests: every process that shares the tests imports all of those."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A module that is imported when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks each thing in a file of tests whether it is a test
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
