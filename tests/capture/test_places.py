"""Where rings are put: a place that everybody may write to, and who may have been there first."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankandfile.capture.gather import files, fr_trace, worker_server
from rankandfile.capture.launch.environment import folder_for_rings
from rankandfile.capture.live.from_rings import stands
from rankandfile.capture.watch import ring_files
from rankandfile.capture.watch.rings import look, without_ring
from rankandfile.runtime.recorder.ring import Ring
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


def as_somebody(folder: Path) -> str:
    """What another user, who is there for real, gets who wants this folder for their own."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        said = "not even asked"
        try:
            os.setgroups([])
            os.setgid(SOMEBODY)
            os.setuid(SOMEBODY)
            places.make_private(folder)
            said = "made"
        except BaseException as error:
            said = type(error).__name__
        os.write(writes, said.encode())
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")
@pytest.mark.parametrize("planted", ["open", "closed", "link", "link to nothing", "file", "pipe"])
def test_what_one_user_planted_under_the_name_of_another_is_neither_used_nor_changed(
    planted: str,
) -> None:
    everybody = Path(tempfile.mkdtemp(prefix="raf-everybody-"))
    everybody.chmod(0o1777)
    own, wanted = everybody / "own", everybody / f"raf-{SOMEBODY}"
    try:
        own.mkdir()
        own.chmod(0o777)
        os.chown(own, SOMEBODY, SOMEBODY)
        if planted in ("open", "closed"):
            wanted.mkdir()
            wanted.chmod(0o777 if planted == "open" else 0o700)
        elif planted in ("link", "link to nothing"):
            wanted.symlink_to(own if planted == "link" else everybody / "nothing")
        elif planted == "file":
            wanted.touch()
        else:
            os.mkfifo(wanted)
        before = wanted.lstat()
        assert as_somebody(wanted) in ("PermissionError", "NotADirectoryError")
        assert wanted.lstat()[:6] == before[:6]
        assert (own.stat().st_mode & 0o777, [*own.iterdir()]) == (0o777, [])
        assert as_somebody(everybody / "another") == "made"
        with pytest.raises(PermissionError, match="belongs to another user"):
            places.make_private(everybody / "another")
    finally:
        shutil.rmtree(everybody)


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


def test_a_folder_of_sources_that_is_a_link_is_left(tmp_path: Path) -> None:
    rings, other, case = tmp_path / "rings", tmp_path / "other", tmp_path / "case"
    rings.mkdir()
    other.mkdir()
    (other / "secret").write_text("secret")
    (rings / "raf-sources").symlink_to(other)
    files.rings([without_ring(os.getpid(), 0)._replace(path=rings / "raf-rank0.ring")], case)
    assert list(case.iterdir()) == []


def ring_of(path: Path) -> None:
    Ring(path, capacity=64, table_size=1 << 12).close()


def test_what_lies_among_rings_and_is_none_keeps_nobody(tmp_path: Path) -> None:
    """A pipe is opened by who looks at another user's job, and was waited for without end."""
    folder, elsewhere = tmp_path / "rings", tmp_path / "elsewhere.ring"
    folder.mkdir()
    ring_of(folder / "raf-rank0-attempt0-1-2-3.ring")
    ring_of(elsewhere)
    os.mkfifo(folder / "raf-rank1-attempt0-1-2-3.ring")
    (folder / "raf-rank2-attempt0-1-2-3.ring").symlink_to(elsewhere)
    (folder / "raf-rank3-attempt0-1-2-3.ring").mkdir()
    code = (
        "import sys; from pathlib import Path; from rankandfile.capture.watch.rings import look; "
        "print([one.path.name for one in look(Path(sys.argv[1]))])"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, timeout=60)
    assert done.stdout == "['raf-rank0-attempt0-1-2-3.ring']\n", done.stderr


def test_a_ring_that_has_become_a_link_since_is_not_copied(tmp_path: Path) -> None:
    rings, secret, case = tmp_path / "rings", tmp_path / "secret", tmp_path / "case"
    rings.mkdir()
    secret.write_text("secret")
    ring_of(rings / "raf-rank0-attempt0-1-2-3.ring")
    (seen,) = look(rings)
    seen.path.unlink()
    seen.path.symlink_to(secret)
    files.rings([seen], case)
    assert list(case.iterdir()) == []
    assert fr_trace.dump(seen.path) is None and stands(seen) is None


def test_of_a_ring_without_end_no_more_is_copied_than_a_ring_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring_files, "LARGEST", 1 << 20)
    ring_of(tmp_path / "raf-rank0-attempt0-1-2-3.ring")
    (seen,) = look(tmp_path)
    os.truncate(seen.path, 1 << 40)
    files.rings([seen], tmp_path / "case")
    assert (tmp_path / "case" / seen.path.name).stat().st_size == 1 << 20


def test_a_rank_that_answers_a_byte_now_and_then_is_hung_up_on(tmp_path: Path) -> None:
    """Each byte comes in time, and the answer would take a year."""
    path, done = tmp_path / "s", threading.Event()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def drip() -> None:
            one = server.accept()[0]
            with one, contextlib.suppress(OSError):
                one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while not done.wait(0.05):
                    one.sendall(b"x")

        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        assert worker_server.handler(path, "dump", seconds=0.3) is None
        done.set()
        dripping.join()
