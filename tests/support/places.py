"""Where the parts of the project lie that tests read."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DOCS = ROOT / "docs"
SCHEMAS = DOCS / "schema"
EXAMPLES = ROOT / "examples"
EARLY_STOP = EXAMPLES / "early-stop"
