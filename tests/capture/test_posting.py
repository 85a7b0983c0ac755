"""Reports on their way to a tower over HTTP: what closes a connection, and what is refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import pytest
from support.capture.waiting import until
from support.tower.fleet import Ranks, desync

from rankandfile.capture.tower import posting
from rankandfile.capture.tower.posting import Posting
from rankandfile.model.digest import Finding, Frame, Group, Path, Report, Side, packed, read
from rankandfile.model.ranks import format_ranks


@contextmanager
def taking(answer: Callable[[bytes], int], idle_s: float = 60.0) -> Iterator[str]:
    """A server that closes connections on which nothing comes for so long; `answer`: its status."""

    class Taker(BaseHTTPRequestHandler):
        protocol_version, timeout = "HTTP/1.1", idle_s

        def do_POST(self) -> None:
            self.send_response(answer(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    # A kept connection holds up nobody who ends the server.
    server = ThreadingHTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def report(*findings: Finding) -> Report:
    return Ranks("job", per_node=2).report(0, time.time(), findings)


def test_the_last_report_arrives_also_where_nothing_was_told_for_a_while() -> None:
    """The diagnosis of the job's end takes longer than a server keeps a connection on which nothing comes."""
    came: list[Report] = []
    said: list[str] = []

    def take(body: bytes) -> int:
        came.append(read(body))
        return 200

    with taking(take, idle_s=0.2) as url:
        post = Posting(url, said.append)
        post.post(report())
        until(lambda: came)
        time.sleep(0.6)
        post.post(msgspec.structs.replace(report(), ended=1))
        post.finish()
    assert [one.ended for one in came] == [None, 1] and said == []


@pytest.mark.parametrize(
    ("status", "kept", "told"),
    [
        (422, False, "refuses a report, and with it 1 finding: 422 Unprocessable Entity"),
        (507, True, "refuses reports: 507 Insufficient Storage"),
    ],
)
def test_a_finding_that_is_refused_for_what_it_is_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, status: int, kept: bool, told: str
) -> None:
    monkeypatch.setattr(posting, "PAUSE_S", 0.05)
    came: list[Report] = []
    said: list[str] = []

    def take(body: bytes) -> int:
        came.append(read(body))
        return status if len(came) == 1 else 200

    with taking(take) as url:
        post = Posting(url, said.append)
        post.post(report(desync("d", 1.0, 2.0)))
        until(lambda: came)
        post.post(report())
        until(lambda: len(came) == 2)
        post.finish()
    assert len(came[1].findings) == kept
    assert said[0].endswith(told) and len(said) == 1 + kept


def test_what_is_told_has_room_in_a_report() -> None:
    """Groups of a fleet have thousands of members, programs have long names, and a tower takes neither."""
    every_8th, long = format_ranks(range(0, 1 << 15, 8)), "x" * 5_000
    side = Side(ranks=every_8th, call=long, path=())
    finding = msgspec.structs.replace(desync("d", 1.0, 2.0), words=long, ranks=every_8th, sides=(side,))
    group = Group(id="g", name=long, size=4096, members=every_8th)
    path = Path(id=3, frames=(Frame(long, 1, "f"),))
    came: list[Report] = []

    def take(body: bytes) -> int:
        came.append(read(body))
        return 200

    with taking(take) as url:
        post = Posting(url, print)
        told = msgspec.structs.replace(report(finding), groups=(group,), paths=(path,))
        with pytest.raises(ValueError, match="no report"):
            read(packed(told))
        post.post(told)
        until(lambda: came)
        post.finish()
    assert came[0].findings[0].words == "x" * 3_999 + "…"
    assert came[0].paths[0].frames[0].file.endswith("x…")
