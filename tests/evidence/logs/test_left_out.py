"""Lines that say that something was left out: wherever the line keeps its level, and only where it warns."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.evidence.reading_logs import events_of

WORDS = "bad sample, batch skipped: token 7"


@pytest.mark.parametrize(
    "before",
    [
        "WARNING ",
        "[WARNING] ",
        "[WARN] ",
        "[ERROR] ",
        "[rank3]:[WARNING] ",
        "WARNING:trainer:",
        "WARNING - ",
        "2026-02-07 08:41:09,512 [WARNING] trainer: ",
        "2026-02-07 08:41:09,512 - trainer - WARNING - ",
        "[2026-02-07 08:41:09,512][trainer][WARNING] - ",
        "2026-02-07 08:41:09.512 | WARNING  | train:step:88 - ",
        "[rank3]:[W207 08:41:09.512004418 trainer.cpp:616] ",
        "[trainer.py:88] [WARNING] ",
        "/workspace/train/data.py:31: UserWarning: ",
    ],
)
def test_a_warning_is_heard_in_any_form(tmp_path: Path, before: str) -> None:
    assert [row["kind"] for row in events_of(tmp_path, before + WORDS)] == ["left_out"]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "INFO ",
        "[INFO] ",
        "INFO:trainer:",
        "2026-02-07 08:41:09.512 | INFO     | train:step:88 - ",
        "[DEBUG] ",
    ],
)
def test_what_is_no_warning_is_none(tmp_path: Path, before: str) -> None:
    assert events_of(tmp_path, before + WORDS) == []
