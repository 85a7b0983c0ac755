"""To a cluster of Ray, for as long as it is needed."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import ray
from ray.exceptions import RayError

from rankandfile import __version__
from rankandfile.model.errors import UserError

from . import share

#: Longest that a cluster may take to run a task that needs nothing.
_GREETING_S = 120.0
#: Longest that its machine may take to answer at all.
_ANSWER_S = 10.0


@contextmanager
def connected(address: str, jobs: int | None, seconds: float) -> Iterator[int]:
    """The processors of the cluster. Raises `UserError` where there is none, or its machines have another raf."""
    if ray.is_initialized():
        # Whoever called us is connected, and stays so.
        yield _greeted(address, seconds)
        return
    where = os.environ.get("RAY_ADDRESS") or "local" if address == "ray" else address
    _reached(address, where)
    # Ray reports home otherwise.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    own = {"num_cpus": jobs, "include_dashboard": False} if where == "local" else {}
    # An empty folder to work in: Ray's workers import from the current one otherwise, and there may be anything.
    with tempfile.TemporaryDirectory(prefix="raf-") as empty, redirect_stdout(_WithoutRay(sys.stdout)):
        try:
            ray.init(
                address=where,
                runtime_env={"working_dir": empty},
                log_to_driver=False,
                logging_level="ERROR",
                **own,
            )
        except Exception as error:
            ray.shutdown()
            raise UserError(f"--engine {address}: {last_words(error)}") from error
        try:
            yield _greeted(address, seconds)
        except (ConnectionError, RayError) as error:
            raise UserError(f"--engine {address}: the cluster is gone: {last_words(error)}") from error
        finally:
            ray.shutdown()


class _WithoutRay:
    """Standard output, where the answer goes, but for what a thread of Ray's prints there: that a worker died, say."""

    _THREAD = "ray_listen_error_messages"

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        ours = threading.current_thread().name != self._THREAD
        return int(self._stream.write(text)) if ours else len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _reached(address: str, where: str) -> None:
    """Ray itself waits for ever for a machine that does not answer."""
    host, colon, port = where.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return  # `local`, or `auto`
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"--engine {address}: no cluster answers at {where}: {error}") from error


def _greeted(address: str, seconds: float) -> int:
    """That tasks run, and run the same raf: another one may decode to something else."""
    try:
        asked = ray.remote(num_cpus=0)(share.version).remote()
        there = ray.get(asked, timeout=min(seconds, _GREETING_S))
    except Exception as error:
        raise UserError(
            f"--engine {address}: its machines cannot run raf {__version__}: {last_words(error)}"
        ) from error
    if there != __version__:
        raise UserError(f"--engine {address}: its machines have raf {there}, and this one {__version__}")
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def last_words(error: Exception) -> str:
    """The last line that says something: before it comes a stack of somebody else's."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
