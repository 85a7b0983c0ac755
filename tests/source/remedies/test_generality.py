"""Patterns know kinds of code, never the lab's scenarios."""

from __future__ import annotations

import re
from pathlib import Path

from rankandfile import source
from rankandfile.lab import catalog

ROOM = Path(source.__file__).parent


def test_nothing_is_keyed_on_a_scenario() -> None:
    texts = {
        path: path.read_text() for folder in ("remedies", "probes") for path in (ROOM / folder).rglob("*.py")
    }
    words = {scenario.name for scenario in catalog.scenarios()}
    words |= {
        part for scenario in catalog.scenarios() for edit in scenario.fault for part in _own(edit.after)
    }
    for path, text in texts.items():
        found = {word for word in words if re.search(rf"\b{re.escape(word)}\b", text)}
        assert not found, f"{path} knows {found}"


def _own(code: str) -> set[str]:
    """Names that a scenario's fault makes up: long ones, which no library has, nor Python itself."""
    defined = {name for name in re.findall(r"(?:def|class) (\w{9,})", code) if not name.startswith("__")}
    return defined - {"forward", "backward"}
