"""The process of the page: from the settings on its standard input until the last rank of the node has ended."""

from __future__ import annotations

import os
import select
import shutil
import sys
import threading
import time
from pathlib import Path

from rankandfile.capture.debug import texts
from rankandfile.capture.debug.dumps import Dumper
from rankandfile.capture.debug.job import Settings, ranks, read
from rankandfile.capture.debug.server import Pages, Server
from rankandfile.capture.debug.verdict import Diagnosing, judge

POLL_S = 0.5
#: The ranks begin to record at their own pace.
PATIENCE_S = 600.0


def main() -> None:
    # Unbuffered: a word that follows at once must still be there for `select`.
    pipe = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115
    settings = read(pipe.readline().decode())
    os.nice(5)  # the job comes first
    verdicts = Diagnosing(settings)
    server = _bound(settings, Pages(settings, verdicts))
    port = server.server_address[1]
    _say(settings, int(port))
    threading.Thread(target=server.serve_forever, name="raf-pages", daemon=True).start()
    dumper = Dumper(settings, verdicts) if settings.dump_dir else None
    if dumper is not None:
        dumper.start()
    try:
        _until_over(settings)
    finally:
        if dumper is not None:
            dumper.stop()
        server.shutdown()
        shutil.rmtree(settings.sockets, ignore_errors=True)


def _bound(settings: Settings, pages: Pages) -> Server:
    try:
        return Server(settings, pages)
    except OSError:
        # Another job's page, or torch's own, is at that port.
        return Server(Settings(**{**vars(settings), "port": 0}), pages)


def _say(settings: Settings, port: int) -> None:
    """The address in a file of this user's; the token is in no log and no command line."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{port}/"
    said = Path(settings.said)
    part = said.with_name(f".{said.name}")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(f"{address}?token={settings.token}\n")
    part.replace(said)
    said.with_name("page.pid").write_text(str(os.getpid()))
    sys.stderr.write(f"raf: debug page at {address}; with its token: cat {said}\n")
    sys.stderr.flush()


def _until_over(settings: Settings) -> None:
    """A rank that starts the page and is killed does not end it: the others may hang, which is what it is for."""
    began = time.monotonic()
    told_to_end = False
    while True:
        if not told_to_end and select.select([0], [], [], POLL_S)[0]:
            word = os.read(0, 64)
            if word:
                return  # told to stop
            told_to_end = True  # the rank is gone
        elif told_to_end:
            time.sleep(POLL_S)
        found = [one for one in ranks(settings) if one.here]
        lives = any(one.seen.lives for one in found)
        if not lives and (found or told_to_end or time.monotonic() - began > PATIENCE_S):
            return


def once() -> None:
    """One answer for torch's own debug server: settings on the standard input, text on the standard output."""
    settings = read(sys.stdin.read())
    text = judge(settings).text if sys.argv[1:] == ["verdict"] else texts.calls(ranks(settings))
    sys.stdout.buffer.write(text.rstrip().encode() + b"\n")
