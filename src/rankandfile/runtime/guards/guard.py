"""One use of one guard by one rank: who it is about, what it is called, and how it can end."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from rankandfile.runtime import watchers
from rankandfile.runtime.guards import arrival, membership, place
from rankandfile.runtime.guards.arrival import Arrival
from rankandfile.runtime.guards.errors import Facts, GuardError, PeerFailed, StoreLost, rebuilt
from rankandfile.runtime.guards.membership import Members
from rankandfile.runtime.switch import guards_on, guards_timeout

#: Seconds that the serving rank gives the others to read what it is about to raise.
LINGER_S = 1.5
_PAUSE_S = 0.002


@dataclass(frozen=True)
class Guard:
    """Ranks whose guards have the same key belong together."""

    members: Members
    at: Arrival
    patience: float

    def key(self, what: str) -> str:
        return f"{self.at.key}/{what}"

    @property
    def title(self) -> str:
        return f"{self.at.words()}, on {self.at.group}"

    def facts(
        self, missing: tuple[int, ...] = (), odd: tuple[int, ...] = (), values: dict[int, str] | None = None
    ) -> Facts:
        at = self.at
        return Facts(at.name, at.site, at.group, at.step, missing, odd, values or {})

    def settle(self, text: str) -> str:
        """Settle how this guard ends, unless it is settled: returns what holds."""
        return self._settle(self.at.key, text)

    def _settle(self, key: str, text: str) -> str:
        store, outcome = self.members.store, f"{key}/outcome"
        held = str(store.compare_set(outcome, "", text).decode())
        if held == text:
            # Whoever waits for the key hears of this at any server, and of the line above only at libuv's.
            store.set(outcome, text)
        return held

    def settle_error(self, error: GuardError, also: Iterable[str] = ()) -> str:
        """Settle for an error, here and at other guards that the same ranks wait at."""
        absent = set() if also else set(error.facts.missing)
        told = {
            "kind": type(error).__name__,
            "message": str(error),
            "facts": vars(error.facts),
            "heard": self.key("heard"),
            "hearers": len(self.members.ranks) - len(absent),
        }
        text = json.dumps(told)
        for key in also:
            self._settle(key, text)
        return self.settle(text)

    def result(self, outcome: str) -> str:
        """The outcome, or the error raised that it describes."""
        if not outcome.startswith("{"):
            return outcome
        told = json.loads(outcome)
        watchers.decided(self.at.kind, self.at.name, told["kind"])
        heard(self.members, told["heard"], told["hearers"])
        raise rebuilt(told["kind"], told["message"], told["facts"])

    def fail(self, error: BaseException) -> None:
        """Tell the others that this rank cannot take part, without waiting for anybody. Raises nothing."""
        what = f"{type(error).__name__}: {error}".rstrip(": ")[:300]
        message = f"rank {self.members.me} failed at {self.at.words()}: {what}"
        try:
            arrival.tell_end(self.members, replace(self.at, how=f"failed: {what}"))
            self.settle_error(PeerFailed(message, self.facts(odd=(self.members.me,))))
            heard(self.members, self.key("heard"), len(self.members.ranks))
        except Exception:
            # The store may be gone with rank 0; the error that brought us here is the one to show.
            return

    @contextmanager
    def arrived(self) -> Iterator[None]:
        """While this rank is at the guard: others can see it there, and the store's errors become ours."""
        try:
            arrival.arrive(self.members, self.at)
            yield
        except GuardError:
            raise
        except RuntimeError as error:
            if not type(error).__name__.startswith("Dist") and "store" not in str(error).lower():
                raise
            what = f"the job's store, which rank 0 or its agent serves, does not answer ({str(error)[:120]})"
            raise StoreLost(f"{self.title}: {what}", self.facts()) from error
        finally:
            arrival.gone_on()

    def clear_before(self) -> None:
        """All members are here, so the guard that this thread was at before is behind them all."""
        for key in self.members.previous.pop(threading.get_ident(), ()):
            self.members.store.delete_key(key)

    def leave(self, *more: str) -> None:
        """Remember what may be cleared at the next guard."""
        keys = (self.key("votes"), self.key("outcome"), self.key("heard"), *more)
        self.members.previous[threading.get_ident()] = keys


def next_use(kind: str, name: str | None, group: Any, timeout: float | None) -> Guard | None:
    """This rank's next use of a guard, which is told by its kind, its name (or line), and the step; None where guards
    are off, or there is nobody to agree with."""
    if not guards_on() or (members := membership.members(group)) is None:
        return None
    site = place.site()
    called = name or site
    step = place.current_step()
    ident = hashlib.blake2s(f"{kind}\0{called}".encode(), digest_size=8).hexdigest()
    number = members.count(ident)
    key = f"{members.ident}/{ident}/{number}/{step}"
    at = Arrival(key, members.label, kind, called, number, site, step, place.thread_name(), time.time())
    return Guard(members, at, timeout or guards_timeout() or members.patience)


def heard(members: Members, key: str, hearers: int) -> None:
    """This rank knows of the error. The one that serves the job's store waits until all `hearers` do, and raises last:
    when it ends, nobody can learn any more why. Raises nothing itself."""
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
