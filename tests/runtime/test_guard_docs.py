"""Every example of docs/guards.md runs, on two ranks."""

from __future__ import annotations

import re

import pytest
from support.later import Later
from support.places import DOCS
from support.runtime.gloo_ranks import Ranks

from rankandfile import guard

guard_page = Later("support.runtime.guard_page")

PAGE = DOCS / "guards.md"


@pytest.mark.torch
def test_the_examples_run(ranks: Ranks) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 7
    for rank in ranks.run(2, guard_page.run_blocks, blocks):
        assert rank.returned == len(blocks), rank.out
        assert re.search(
            r"raf: rank \d step 2: call 3 on world \[0-1\]: all_reduce float32\[4\] bucket=0 #", rank.out
        )


def test_the_page_names_every_guard_and_error() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in guard.__all__ if f"`{name}" not in text and f"guard.{name}" not in text] == []
