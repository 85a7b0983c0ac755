"""What is gathered of a job that stands still."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankandfile.capture.case import Case, Wishes
from rankandfile.capture.watch.rings import NO_RING, Seen


def test_what_is_printed_counts_from_the_last_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look while nothing moved had begun the count anew, and a job that counted on was ended as a hang."""
    monkeypatch.setattr("rankandfile.capture.case.time.sleep", lambda _: None)
    log = tmp_path / "rank_0.stdout.log"
    log.write_text("step 8\n")
    case = Case(Wishes(out=tmp_path / "case"), lambda _: None, lambda: [log], tmp_path / "dumps", {})
    case.moves(0.0)
    with log.open("a") as file:
        for batch in range(3):
            file.write(f"eval batch {batch}\n")
            file.flush()
            case.moves(1.0 + batch)
    seen = [Seen(NO_RING, 0, 1, 0, 0, "", True, False, (), 0, False)]
    folder = case.of_stall(lambda: (seen, {}), stacks=False)
    (told,) = json.loads((folder / "evidence" / "work.json").read_text())
    assert (told["first"], told["last"]) == ("batch 0", "batch 2")
