"""The rank that serves the job's store raises last: when it ends, nobody can learn any more why."""

from __future__ import annotations

import os
import time

from rankandfile.runtime.guards.membership import Members

#: Seconds that the serving rank gives the others to read what it is about to raise.
LINGER_S = 1.5
_PAUSE_S = 0.002


def heard(members: Members, key: str, hearers: int) -> None:
    """This rank knows of the error; the serving one waits until all `hearers` do. Raises nothing."""
    try:
        count = members.store.add(key, 1)
        until = time.monotonic() + LINGER_S
        while _serves(members) and count < hearers and time.monotonic() < until:
            time.sleep(_PAUSE_S)
            count = members.store.add(key, 0)
    except Exception:
        # Without a store there is nobody left to wait for; the error is about to be raised.
        return


def _serves(members: Members) -> bool:
    return members.me == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
