"""Starting the page: a worker server in every rank, and one process per node that asks them all."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankandfile.own_python import own_python
from rankandfile.runtime.debug import worker
from rankandfile.runtime.recorder.current import ring_folder
from rankandfile.runtime.recorder.start import start as start_recorder
from rankandfile.runtime.switch import recorder_on
from rankandfile.wire.places import make_private


@dataclass
class _Running:
    socket: Path
    page: subprocess.Popen[bytes] | None


_running: _Running | None = None


def start(
    port: int = 25999,
    dump_dir: str | os.PathLike[str] | None = None,
    dump_interval: float = 60.0,
    enabled_dumps: Collection[str] = ("verdict", "stacks", "fr_trace", "pickles"),
    fetch_timeout: float = 10.0,
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
    keep_dumps: int = 20,
    source: str | os.PathLike[str] | None = None,
) -> Path | None:
    """Record this rank, and let the job be looked at; to be called by every rank, before or after
    `init_process_group`.

    The first rank of each node starts the page. Returns the file that will hold the page's address with its token,
    the same on all ranks of a node, or None where it is switched off or cannot be had. Raises nothing.
    """
    global _running
    if not recorder_on() or _running is not None:
        return None
    try:
        start_recorder()
        folder = _private_folder()
        said = folder / "page.url"
        page = None
        socket = worker.serve(folder)
        worker.let_look(folder / "page.pid")
        if _number("LOCAL_RANK", _number("RANK")) == 0:
            settings = {
                "rings": str(ring_folder().resolve()),
                "launcher": os.getppid(),
                "attempt": _number("TORCHELASTIC_RESTART_COUNT"),
                "sockets": str(folder),
                "store": f"{os.environ.get('MASTER_ADDR', '')}:{_number('MASTER_PORT')}",
                "world": _number("WORLD_SIZE", 1),
                "shared": _number("LOCAL_WORLD_SIZE") < _number("WORLD_SIZE", 1),
                "host": host,
                "port": port,
                "token": token or os.environ.get("RAF_DEBUG_TOKEN") or secrets.token_urlsafe(24),
                "dump_dir": str(Path(dump_dir).resolve()) if dump_dir is not None else "",
                "dump_interval": dump_interval,
                "keep_dumps": keep_dumps,
                "dumps": list(enabled_dumps),
                "fetch_timeout": fetch_timeout,
                "source": str(Path(source).resolve()) if source is not None else "",
                "said": str(said),
            }
            page = _start_page(settings)
        _running = _Running(socket, page)
        worker.plug_into_torch()
        return said
    except Exception as error:
        sys.stderr.write(f"raf: no debug page: {type(error).__name__}: {error}\n")
        return None


def stop() -> None:
    """Let nobody look at this rank any more, and end the page where this rank started it. Without it, both end with
    the job."""
    global _running
    running, _running = _running, None
    if running is None:
        return
    if running.page is not None and running.page.stdin is not None:
        try:
            running.page.stdin.write(b"stop\n")
            running.page.stdin.close()
            running.page.wait(60)
        except (OSError, subprocess.TimeoutExpired):
            running.page.kill()
    running.socket.unlink(missing_ok=True)


def handlers() -> list[Any]:
    """For torch's own server: `start_debug_server(handlers=handlers())`. Its handlers, with the one that stops on gloo
    mended, and the verdict."""
    from rankandfile.runtime.debug.torch_handlers import handlers as made

    return made()


def _start_page(settings: dict[str, Any]) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    page = subprocess.Popen(
        own_python("from rankandfile.capture.debug.main import main; main()"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # Ctrl-C is for the job; the page ends when its last rank has
    )
    assert page.stdin is not None
    page.stdin.write(json.dumps(settings).encode() + b"\n")
    page.stdin.flush()
    return page


def _private_folder() -> Path:
    """The same for all ranks of this launcher and attempt; short, as addresses of sockets must be."""
    base = Path(tempfile.gettempdir()) / f"raf-debug-{os.getuid()}"
    folder = base / f"{os.getppid()}-{_number('TORCHELASTIC_RESTART_COUNT')}-{_number('MASTER_PORT')}"
    for one in (base, folder):
        make_private(one)
    return folder


def _number(name: str, otherwise: int = 0) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else otherwise
