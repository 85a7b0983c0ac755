"""The machines that ranks run on: this one, or those on which `raf control worker` waits for a controller."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankandfile.capture.control import doors

#: Below this folder of its host an actor keeps what its rank leaves.
WORK = "RAF_CONTROL_WORK"
#: Monarch takes no other word here yet: whom a worker trusts, its transport decides.
_TRUST = "trust_all_connections"


def attach(workers: Sequence[str], certificates: Path | None) -> Any:
    """Monarch's mesh of this host, or of the workers'. Raises NoWay."""
    from monarch.actor import attach_to_workers, enable_transport, this_host

    if not workers:
        return this_host()
    scheme = doors.scheme(workers, certificates)
    host = doors.knocked(workers, certificates)
    enable_transport(f"{scheme}://[{host}]:0" if ":" in host else f"{scheme}://{host}:0")
    return attach_to_workers(ca=_TRUST, workers=[f"{scheme}://{worker}" for worker in workers])


def serve(address: str) -> None:
    """Wait at `tcp://host:port`, or `tls://`, for controllers, one after the other, until this process is ended."""
    from monarch.actor import run_worker_loop_forever

    with tempfile.TemporaryDirectory(prefix="raf-worker-") as work:
        os.environ[WORK] = work
        run_worker_loop_forever(address=address, ca=_TRUST)


def work_folder(rank: int) -> str:
    """A new folder for a rank of this host. Raises OSError."""
    return tempfile.mkdtemp(prefix=f"rank-{rank}-", dir=os.environ.get(WORK))
