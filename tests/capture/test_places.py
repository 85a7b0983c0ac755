"""Where rings are put: a place that everybody may write to, and who may have been there first."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankandfile.capture.gather import files
from rankandfile.capture.launch.environment import folder_for_rings
from rankandfile.capture.watch.rings import without_ring
from rankandfile.wire import places

#: A user that this machine does not have.
SOMEBODY = 4_000_001


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where this user would record, if the user were one who never has."""
    folder = places.home({}).with_name(f"raf-{SOMEBODY}")
    shutil.rmtree(folder, ignore_errors=True)
    own = os.getuid()
    monkeypatch.setattr(places, "home", lambda _: folder)
    yield folder
    monkeypatch.setattr(os, "getuid", lambda: own)
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def test_the_first_makes_it_for_this_user_alone(home: Path) -> None:
    rings = folder_for_rings({})
    assert rings.parent == home
    assert {path.stat().st_mode & 0o777 for path in (home, rings)} == {0o700}


def test_a_link_that_somebody_has_put_there_is_not_followed(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "run-1-1"  # as what a run leaves whose watcher is gone
    kept.mkdir()
    home.symlink_to(tmp_path)
    with pytest.raises(OSError, match="is a link"):
        folder_for_rings({})
    assert list(tmp_path.iterdir()) == [kept]


def test_of_two_users_the_one_who_did_not_make_it_records_nothing_there(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir(mode=0o777)
    monkeypatch.setattr(os, "getuid", lambda: SOMEBODY)
    with pytest.raises(PermissionError, match="belongs to another user"):
        folder_for_rings({})
    assert list(home.iterdir()) == []


def test_a_folder_of_this_user_that_others_may_write_to_is_closed(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    folder_for_rings({})
    assert home.stat().st_mode & 0o777 == 0o700


def test_copies_of_sources_are_taken_and_nothing_that_links_lead_to(tmp_path: Path) -> None:
    """Root may look at anybody's job, and would read what the job's user may not."""
    sources, secret, case = tmp_path / "rings" / "raf-sources", tmp_path / "secret", tmp_path / "case"
    sources.mkdir(parents=True)
    secret.write_text("secret")
    (sources / "own.py.zlib").write_text("own")
    (sources / "linked.py.zlib").symlink_to(secret)
    os.mkfifo(sources / "pipe.py.zlib")
    seen = without_ring(os.getpid(), 0)._replace(path=tmp_path / "rings" / "raf-rank0.ring")
    files.rings([seen], case)
    assert [path.name for path in (case / "raf-sources").iterdir()] == ["own.py.zlib"]
