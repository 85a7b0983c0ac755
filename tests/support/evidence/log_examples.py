"""The examples of all log shapes, gathered from the test file of each."""

from __future__ import annotations

import runpy

from support.evidence.shape_tests import Example
from support.places import TESTS

_FILES = sorted((TESTS / "evidence" / "logs" / "shapes").glob("test_*.py"))
_NAMES = [runpy.run_path(str(file)) for file in _FILES]

EXAMPLES: list[Example] = [example for names in _NAMES for example in names.get("EXAMPLES", ())]
#: Of writers that put the host, the process or the machine into the line themselves.
MACHINE: list[Example] = [example for names in _NAMES for example in names.get("MACHINE", ())]
