"""Documentation that comes from the code is what the code says now."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", sorted(generator().PAGES, key=str), ids=lambda path: path.name)
def test_generated_pages_are_fresh(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == generator().PAGES[page](), "run `make docs`"
