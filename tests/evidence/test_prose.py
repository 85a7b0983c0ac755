"""Pages of prose quote logs, and are none: a documentation is no job, and who numbers notes counts no ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankandfile

_QUOTES = "# What we saw\n\n```\nRuntimeError: NCCL communicator was aborted on rank 0.\nValueError: bad batch\n```\n"


def _pages(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"b{number}.md").write_text(_QUOTES)


def test_a_folder_of_pages_is_no_evidence_and_a_page_that_is_named_is(tmp_path: Path) -> None:
    _pages(tmp_path, 5)
    with pytest.raises(rankandfile.UserError, match=r"b0\.md: a page of prose, as 4 others are"):
        rankandfile.diagnose(tmp_path)
    assert rankandfile.load(tmp_path / "b1.md").events.height


def test_a_picture_that_shows_an_answer_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "answer.svg").write_text(
        "<svg><text>rank 3 raised RuntimeError: CUDA out of memory</text></svg>"
    )
    (tmp_path / "job.log").write_text("RuntimeError: NCCL communicator was aborted on rank 0.\n")
    assert rankandfile.load(tmp_path).logs.height == 1


def test_the_numbers_of_notes_are_no_ranks(tmp_path: Path) -> None:
    _pages(tmp_path, 3)
    assert rankandfile.load(tmp_path).events.get_column("rank").unique().to_list() in ([None], [0], [0, None])
