"""A file's name is bytes, and need not be text: it is read all the same, and every output can say it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from support.places import EARLY_STOP

from rankandfile.evidence.load import load
from rankandfile.model.diagnosis import to_json
from rankandfile.reason import conclude, gather

DUMPS = EARLY_STOP / "evidence" / "dumps"


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes no such name")
def test_it_is_read_and_named(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/dumps \xff"))
    shutil.copytree(DUMPS, odd)
    spool = tmp_path / "spool"
    spool.mkdir()
    case = load([odd], spool, jobs=2)
    assert sorted(case.ranks_seen) == [0, 1, 2, 3]
    diagnosis = conclude(gather(case))
    assert [culprit.rank for culprit in diagnosis.verdicts[0].culprits] == [2]
    assert b"dumps" in to_json(diagnosis)
