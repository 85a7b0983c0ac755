"""What ranks of one controller write, told apart on one terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.capture.control.streams import Streams


def written(capfdbinary: pytest.CaptureFixture[bytes]) -> tuple[bytes, bytes]:
    told = capfdbinary.readouterr()
    return told.out, told.err


def test_a_line_of_one_rank_is_one_line_and_bears_its_rank(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    streams = Streams(False, 0, None)
    streams.pass_on(0, b"step 1\nloss ", b"")
    streams.pass_on(1, b"step 1\n", b"a warning\n")
    streams.pass_on(0, b"0.5\n", b"")
    assert written(capfdbinary) == (
        b"[rank0]: step 1\n[rank1]: step 1\n[rank0]: loss 0.5\n",
        b"[rank1]: a warning\n",
    )


def test_the_head_of_torchs_own_tracebacks_is_not_told_twice(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    Streams(False, 0, None).pass_on(1, b"", b"[rank1]: Traceback\n")
    assert written(capfdbinary)[1] == b"[rank1]: Traceback\n"


def test_a_progress_bar_is_passed_on_as_it_comes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    streams = Streams(False, 0, None)
    streams.pass_on(1, b"", b"10%\r20%\r30%")
    assert written(capfdbinary)[1] == b"[rank1]: 10%\r[rank1]: 20%\r"
    streams.end()
    assert written(capfdbinary)[1] == b"[rank1]: 30%\n"


def test_a_rank_by_itself_is_passed_on_as_it_is(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Streams(True, 0, None).pass_on(0, b"half a li", b"")
    assert written(capfdbinary)[0] == b"half a li"


def test_a_line_without_end_is_not_kept_for_ever(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Streams(False, 0, None).pass_on(0, b"x" * 70_000, b"")
    assert len(written(capfdbinary)[0]) > 70_000


def test_files_have_what_a_rank_wrote_byte_by_byte(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    streams = Streams(False, 2, tmp_path / "logs")
    streams.pass_on(3, b"one\n", b"")
    streams.pass_on(3, b"two", b"bad\n")
    folder = tmp_path / "logs" / "attempt_2"
    assert (folder / "rank_3.stdout.log").read_bytes() == b"one\ntwo"
    assert (folder / "rank_3.stderr.log").read_bytes() == b"bad\n"
    assert written(capfdbinary)[0] == b"[rank3]: one\n"
