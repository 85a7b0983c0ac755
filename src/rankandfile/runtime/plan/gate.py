"""The gate of this process: every call comes by before it is issued, and is let through, or raises.

What a rank always did after the calls before is let through at once. A collective that is new, or was decided one way
or the other before, is put up for the other members, who say what their call of that number is: the calls are issued
once they agree. So a rank that goes its own way is told before its call, and the others with it. A message that is new
is put up too, but waits for nobody: ranks may send and receive in any order.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any

from rankandfile.runtime.guards import guard, membership
from rankandfile.runtime.guards.membership import Members
from rankandfile.runtime.plan.board import Board
from rankandfile.runtime.plan.calls import Call, Request, Requests
from rankandfile.runtime.plan.errors import OutOfPlan, rebuilt
from rankandfile.runtime.plan.judge import Ruling
from rankandfile.runtime.plan.made import Made
from rankandfile.runtime.plan.memory import Memory, Novelty
from rankandfile.runtime.plan.series import Series
from rankandfile.runtime.plan.steps import Steps
from rankandfile.runtime.plan.talks import Talks
from rankandfile.runtime.plan.watch import Watch
from rankandfile.runtime.plan.ways import Ways
from rankandfile.runtime.recorder.operators import Operator

if TYPE_CHECKING:
    from rankandfile.runtime.plan.decisions import Lookout

#: After a failed call, for the word that somebody has left the plan.
WORD_S = 1.5
_PAUSE_S = 0.005
#: Nobody need be asked.
_SURE = (Novelty.EXPECTED, Novelty.SETTLED)


class Gate:
    def __init__(self) -> None:
        from torch.distributed import distributed_c10d

        self._c10d: Any = distributed_c10d
        self._unbox: Callable[[Any], Any] = distributed_c10d.ProcessGroup.unbox
        self.failures = 0
        self.steps: Steps | None = None
        """The declared steps, where the program declares any."""
        self.board: Board | None = None
        self.talks: Talks | None = None
        self.watch: Watch | None = None
        self.lookout: Lookout | None = None
        """Of the meeting that the main thread waits at."""
        self.series: dict[str, Series] = {}
        self.breach: OutOfPlan | None = None
        self.raised = False
        """The main thread is on its way out with the error."""
        self.main = threading.main_thread().ident
        self.standing: Call | None = None
        """What the main thread waits in."""
        self.reduction: int | None = None
        """Of the call that the main thread is about to make, where it is known."""
        self._made = Made()
        self._world: Any = None
        self._requests: dict[str, Requests | None] = {}
        self._life = 0
        self._ways, self._memory = Ways(), Memory()
        self._lock = threading.Lock()
        self._hearing = threading.Lock()
        self._heard = False

    def enter(self, operator: Operator, arguments: tuple[Any, ...]) -> None:
        """A call is about to be issued, two frames above. Raises `OutOfPlan`, and nothing else."""
        if self.breach is not None:
            self.raise_if_left()
        try:
            requests = self._on(self._unbox(arguments[operator.group]).group_name)
            if requests is None:
                return
            main = get_ident() == self.main
            reduction = self.reduction if main else None
            request = requests.of(operator, arguments, reduction, sys._getframe(2))
            series = self.series.get(request.series) or self._begun(request)
            series.threads |= not main
            call, asked = self._numbered(series, request)
            if main:
                self._made.add(call)
                self.standing = call if request.sync else None
            self._check(series, call, asked)
        except OutOfPlan:
            raise
        except Exception:
            # The store is gone, most likely with the rank that serves it: what remains is the job as it was.
            self.failures += 1

    def forget(self) -> None:
        """The main thread is about to make a call, and will say what its work is."""
        self._made.forget()

    def gave(self, work: Any) -> None:
        self._made.gave(work)

    def issued(self) -> None:
        """The call is made, and did not wait for its end."""
        if get_ident() == self.main:
            self.standing = None

    def waits(self, work: Any) -> None:
        """A thread waits for that work."""
        if get_ident() == self.main:
            self.standing = self._made.call_of(work)

    def waited(self) -> None:
        if get_ident() == self.main:
            self.standing = None
            self._made.forget()

    def failed(self, error: BaseException) -> None:
        """A call failed: where that is because others have left the plan, and ended, this is what to say."""
        watch = self.watch
        if watch is None or isinstance(error, OutOfPlan):
            return
        until = time.monotonic() + WORD_S
        while self.breach is None and watch.lives and time.monotonic() < until:
            time.sleep(_PAUSE_S)
        self.raise_if_left()

    def stop(self) -> None:
        """Before the interpreter ends: a thread that it ends in the middle of a question ends the process badly."""
        self.board, watch, self.watch = None, self.watch, None
        if watch is not None:
            watch.join()

    def _on(self, name: str) -> Requests | None:
        """What this rank asks for on a group; None where there is nobody to agree with."""
        if self.board is None or self._world is None or self._c10d.GroupMember.WORLD is not self._world():
            world = membership.members()
            if world is None:
                return None
            if self.board is None or self.board.world is not world:
                self._join(world)
        try:
            return self._requests[name]
        except KeyError:
            found = membership.members(self._c10d._resolve_process_group(name))
            made = self._requests[name] = Requests(found, self._ways) if found is not None else None
            return made

    def _join(self, world: Members) -> None:
        with self._lock:
            self._life += 1
            self._requests, self.series = {}, {}
            self._world = weakref.ref(self._c10d.GroupMember.WORLD)
            self.board = Board(world, self._life)
            self.talks = Talks(self, self.board)
            self.watch = Watch(self, self.board)
            self.watch.start()

    def _begun(self, request: Request) -> Series:
        assert self.board is not None
        with self._lock:
            made = Series(request, self.board.world.me)
            found = self.series.setdefault(request.series, made)
            if not request.ranks:  # from anybody: what it takes is missing elsewhere
                for series in self.series.values():
                    series.silent |= series.messages and series.group == made.group
            found.silent |= any(one.group == made.group and not one.ranks for one in self.series.values())
        return found

    def _numbered(self, series: Series, request: Request) -> tuple[Call, bool]:
        """The call, and whether others want to hear of it."""
        steps = self.steps
        identity = request.identity
        if steps is not None and steps.dynamic and steps.is_dynamic(request.op, request.way.site):
            identity = request.sizeless
        with self._lock:
            number = series.count = series.count + 1
            call = Call(request, identity, number, self._memory.meet(identity), time.time())
            series.past.append(call)
            asked = number in series.asked
            if asked:
                series.asked.discard(number)
        return call, asked

    def _check(self, series: Series, call: Call, asked: bool) -> None:
        planned = self.steps.check(call) if self.steps is not None else None
        if planned is not None and planned.wrong is not None:
            self.leave(series.label, planned.wrong(series.me, series.title))
        sure = call.novelty in _SURE or (planned is not None and planned.sure)
        if (sure and not asked) or self.talks is None:
            return
        if not series.messages:
            self.talks.confirm(series, call)
        elif series.ranks:
            self.talks.post(series, call)
            self.raise_if_left()

    def answer(self, ident: str, number: int) -> None:
        """Somebody wants to know what this rank does at that number of a series, or will do."""
        series = self.series.get(ident)
        with self._lock:
            if series is None or self.talks is None:
                return
            if number > series.count:
                series.asked.add(number)
                return
            found = next((one for one in reversed(series.past) if one.number == number), None)
        if found is not None:
            self.talks.post(series, found)

    def leave(self, label: str, wrong: Ruling) -> None:
        """The plan is left: tell everybody, and raise."""
        assert self.talks is not None
        self.talks.settle(label, wrong)
        self.raise_if_left()

    def hear(self, text: str) -> None:
        if self.breach is None and text:
            self.breach = rebuilt(**json.loads(text))

    def raise_if_left(self) -> None:
        if self.breach is None:
            return
        if get_ident() == self.main:
            self.raised = True
        self.all_have_heard()
        raise OutOfPlan(str(self.breach), self.breach.facts)

    def all_have_heard(self) -> None:
        """The rank that serves the job's store ends last: nobody could learn why, without it."""
        with self._hearing:
            if not self._heard and self.board is not None:
                self._heard = True
                world = self.board.world
                guard.heard(world, "plan/heard", len(world.ranks))
