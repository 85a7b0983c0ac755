"""Tracebacks in logs: plain, chained, of threads and workers, behind prefixes, cut short."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.evidence.stack_reading import read, read_log, seen

from rankandfile.evidence.text import scan

CHAIN = """Traceback (most recent call last):
  File "/job/data.py", line 31, in fetch
    return self.index[key]
           ~~~~~~~~~~^^^^^
KeyError: 17

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/job/train.py", line 22, in <module>
    main()
  File "/job/train.py", line 17, in main
    fetch()
    ~~~~~^^
ValueError: bad batch 17
"""


@pytest.mark.parametrize("prefix", ["", "[rank1]: ", "[default1]:[rank1]: ", " 1: [rank1]: ", "node07: ",
                                    "[pod/w-3/main] ", "2026-02-07 08:41:09,512 ", "w-0  | "])  # fmt: skip
def test_chain(tmp_path: Path, prefix: str) -> None:
    text = "loss 1\n" * 9 + "".join(f"{prefix}{line}\n" for line in CHAIN.splitlines()) + "loss 2\n"
    for raw in (read_log(tmp_path, text), read(tmp_path, text)):
        origin, later = seen(raw)
        assert (origin.thread.error, origin.thread.code) == ("KeyError: 17", "return self.index[key]")
        assert (later.thread.error, later.thread.code) == ("ValueError: bad batch 17", "fetch()")
        assert later.functions == ["main", "<module>"]
        assert (origin.thread.follows, later.thread.follows) == (None, 10)
        assert {origin.thread.shows, later.thread.shows} == {"raised"}
        assert later.process.rank == (1 if "rank1" in prefix else None)
        assert not later.thread.cut


def test_worker_is_the_origin(tmp_path: Path) -> None:
    text = """Traceback (most recent call last):
  File "/job/train.py", line 9, in <module>
    for batch in loader:
KeyError: Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "/job/data.py", line 31, in __getitem__
    return self.index[key]
KeyError: 17
"""
    outer, origin = seen(read_log(tmp_path, text))
    assert outer.thread.follows == origin.thread.line == 5
    assert origin.thread.follows is None
    assert origin.functions == ["__getitem__", "_worker_loop"]


def test_threads_ignored_ones_and_groups(tmp_path: Path) -> None:
    text = """Exception in thread Thread-3 (uploader):
Traceback (most recent call last):
  File "/job/up.py", line 3, in uploader
    push()
OSError: no route
Exception ignored in: <function Pool.__del__ at 0x7f>
Traceback (most recent call last):
  File "/usr/lib/python3.11/multiprocessing/pool.py", line 271, in __del__
    self._change_notifier.put(None)
AttributeError: gone
  + Exception Group Traceback (most recent call last):
  |   File "/job/g.py", line 4, in <module>
  |     run()
  | ExceptionGroup: two (2 sub-exceptions)
"""
    thread, ignored, group = seen(read_log(tmp_path, text))
    assert thread.thread.name == "Thread-3 (uploader)"
    assert thread.thread.role != "main"
    assert ignored.thread.error == "ignored: AttributeError: gone"
    assert (group.thread.error, group.frames) == (
        "ExceptionGroup: two (2 sub-exceptions)",
        [("<module>", "/job/g.py", 4)],
    )


def test_cut_short(tmp_path: Path) -> None:
    (one,) = seen(read_log(tmp_path, CHAIN[:90]))
    assert one.thread.cut
    assert one.functions == ["fetch"]


@pytest.mark.lab
def test_a_storm_is_bounded(tmp_path: Path) -> None:
    raw = read_log(tmp_path, "".join(CHAIN.replace("17", str(n)) for n in range(15_000)))
    assert len(raw.threads) == 20_000
    assert any("more stacks than are kept" in note.what for note in raw.notes)


def test_a_window_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stacks are found once each, with their own lines, wherever a window ends."""
    monkeypatch.setattr(scan, "CHUNK", 1 << 14)
    monkeypatch.setattr(scan, "AHEAD", 1 << 11)
    text = "".join("step of no interest\n" * (n % 97) + CHAIN for n in range(300))
    found = seen(read_log(tmp_path, text))
    lines = text.split("\n")
    assert [lines[one.thread.line - 1] for one in found] == ["Traceback (most recent call last):"] * 600
    assert len({one.thread.line for one in found}) == 600
    assert [one.thread.error for one in found] == ["KeyError: 17", "ValueError: bad batch 17"] * 300
