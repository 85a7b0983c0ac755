"""The gate of this process: every collective comes by before it is issued, and is let through, or raises.

What a rank always did after the calls before is let through at once. What is new, or was decided one way or the other
before, is put up for the other members, who say what their call of that number is: the calls are issued once they
agree. So a rank that goes its own way is told before its call, and the others with it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import deque
from typing import Any, NamedTuple

from rankandfile.runtime.guards import guard, membership
from rankandfile.runtime.guards.membership import Members
from rankandfile.runtime.plan import calls, judge
from rankandfile.runtime.plan.board import Board
from rankandfile.runtime.plan.calls import Call, Ways
from rankandfile.runtime.plan.errors import OutOfPlan, rebuilt
from rankandfile.runtime.plan.judge import Post, Ruling
from rankandfile.runtime.plan.memory import Memory, Novelty
from rankandfile.runtime.plan.steps import Steps
from rankandfile.runtime.plan.watch import Watch
from rankandfile.runtime.recorder.operators import Operator

#: A rank that is asked about waits so long for the others' word; then it goes on, and is compared when they come.
PATIENCE_S = 5.0
_PAUSE_S = 0.005
#: After a failed call, for the word that somebody has left the plan.
WORD_S = 1.5
#: Calls of a group that can still be asked about.
_KEPT = 1024


class Group:
    """One process group, and this rank's calls on it."""

    def __init__(self, members: Members) -> None:
        self.ident, self.label, self.ranks, self.me = members.ident, members.label, members.ranks, members.me
        self.number = int(members.ident, 16)
        self.count = 0
        self.past: deque[tuple[Call, Novelty]] = deque(maxlen=_KEPT)
        self.asked: set[int] = set()
        """Numbers that others want to know of, and this rank is not at yet."""
        self.posted: set[int] = set()
        self.mixed: set[int] = set()
        """Ways that were taken while others took another, with the agreement of all."""
        self.settled = 0


class Standing(NamedTuple):
    """What the main thread waits in, or is kept from."""

    call: Call
    novelty: Novelty
    label: str
    since: float
    waits: bool
    """It is certain that it waits in this call; else it has issued it, and may be anywhere."""


class Gate:
    def __init__(self) -> None:
        import torch.distributed

        self._unbox: Any = torch.distributed.ProcessGroup.unbox
        self.pid = os.getpid()
        self.failures = 0
        self.steps: Steps | None = None
        """The declared steps, where the program declares any."""
        self.board: Board | None = None
        self.groups: dict[str, Group] = {}
        self.breach: OutOfPlan | None = None
        self.raised = False
        """The main thread is on its way out with the error."""
        self.standing: Standing | None = None
        self.counts: dict[str, int] = {}
        """Calls of this rank by group, and by pair of a sender and a receiver."""
        self._unwaited = 0
        self.watch: Watch | None = None
        self._by_name: dict[str, Group | None] = {}
        self._life = 0
        self._ways, self._memory = Ways(), Memory()
        self._lock = threading.Lock()
        self._hearing = threading.Lock()
        self._heard = False

    def enter(self, operator: Operator, arguments: tuple[Any, ...]) -> None:
        """A call is about to be issued, two frames above. Raises `OutOfPlan`, and nothing else."""
        if os.getpid() != self.pid:
            return
        if self.breach is not None:
            self._raise()
        try:
            group = self._group(self._unbox(arguments[operator.group]))
            if group is None:
                return
            call, novelty = self._next(group, operator, arguments)
            if threading.current_thread() is threading.main_thread():
                self._unwaited += 1
                self.standing = Standing(
                    call, novelty, group.label, time.monotonic(), calls.is_sync(operator, arguments)
                )
            if not operator.p2p:
                self._check(group, call, novelty)
        except OutOfPlan:
            raise
        except Exception:
            # The store is gone, most likely with the rank that serves it: what remains is the job as it was.
            self.failures += 1

    def waits(self) -> None:
        """A thread waits for work: the main thread's last call's, if there is no other that it has not waited for."""
        at = self.standing
        if at is not None and self._unwaited == 1 and threading.current_thread() is threading.main_thread():
            self.standing = at._replace(waits=True, since=time.monotonic())

    def waited(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.standing, self._unwaited = None, 0

    def failed(self, error: BaseException) -> None:
        """A call failed: where that is because others have left the plan, and ended, this is what to say."""
        watch = self.watch
        if watch is None or isinstance(error, OutOfPlan) or os.getpid() != self.pid:
            return
        until = time.monotonic() + WORD_S
        while self.breach is None and watch.lives and time.monotonic() < until:
            time.sleep(_PAUSE_S)
        if self.breach is not None:
            self._raise()

    def stop(self) -> None:
        """Before the interpreter ends: a thread that it ends in the middle of a question ends the process badly."""
        self.board, watch, self.watch = None, self.watch, None
        if watch is not None:
            watch.join()

    def _group(self, process_group: Any) -> Group | None:
        name = process_group.group_name
        world = membership.members()
        if world is None:
            return None
        if self.board is None or self.board.world is not world:
            self._join(world)
        if name not in self._by_name:
            found = membership.members(_registered(name))
            made = self._by_name[name] = Group(found) if found is not None else None
            if made is not None:
                self.groups[made.ident] = made
        return self._by_name[name]

    def _join(self, world: Members) -> None:
        with self._lock:
            self._life += 1
            self._by_name, self.groups, self.counts = {}, {}, {}
            self.board = Board(world, self._life)
            self.watch = Watch(self, self.board)
            self.watch.start()

    def _next(self, group: Group, operator: Operator, arguments: tuple[Any, ...]) -> tuple[Call, Novelty]:
        contract, bare = calls.contract_of(operator, arguments)
        way = self._ways.of(sys._getframe(3))
        dynamic = self.steps is not None and self.steps.is_dynamic(operator.name, way.site)
        waits_for = calls.waits_for(operator, arguments, group.ranks, group.me)
        identity = hash((group.number, bare if dynamic else contract, way.digest))
        name = group.ident
        if operator.p2p:
            name = f"{name}/{calls.pair(operator, arguments, group.ranks, group.me)}"
        with self._lock:
            number = self.counts[name] = self.counts.get(name, 0) + 1
            if not operator.p2p:
                group.count = number
            call = Call(
                name,
                number,
                operator.name.strip("_"),
                contract,
                identity,
                way,
                waits_for,
                time.time(),
            )
            novelty = self._memory.meet(identity)
            if not operator.p2p:
                group.past.append((call, novelty))
        return call, novelty

    def _check(self, group: Group, call: Call, novelty: Novelty) -> None:
        planned = self.steps.check(call) if self.steps is not None else None
        if planned is not None and planned.wrong is not None:
            self.leave(group, planned.wrong(group.me, group.label))
        with self._lock:
            asked = call.number in group.asked
            group.asked.discard(call.number)
        sure = planned is not None and planned.sure
        if asked or not (sure or novelty in (Novelty.EXPECTED, Novelty.SETTLED)):
            self._confirm(group, call, novelty)

    def _confirm(self, group: Group, call: Call, novelty: Novelty) -> None:
        """Come back once all members have said that they make this call; raises where one does not."""
        board = self.board
        assert board is not None
        began = time.monotonic()
        self.post(group, call, novelty)
        while not (outcome := board.outcome(group.ident, call.number)):
            if self.breach is not None:
                self._raise()
            now = time.monotonic()
            if now - began > PATIENCE_S:
                return
            time.sleep(min((now - began) / 4 + 0.0002, _PAUSE_S))
        if outcome == "breach":
            self.hear(board.how_it_was_left())
            self._raise()
        if outcome == "mixed":
            group.mixed.add(call.way.digest)
        if group.me == group.ranks[0]:
            if group.settled:
                board.clear(group.ident, group.settled, group.ranks)
            group.settled = call.number

    def post(self, group: Group, call: Call, novelty: Novelty) -> None:
        """Put up what this rank does at that number; the last one to do so compares."""
        with self._lock:
            if call.number in group.posted or self.board is None:
                return
            group.posted.add(call.number)
        count = self.board.post(group.ident, call.number, self.post_of(group, call, novelty))
        if count == 1:
            self.board.tell("ask", group=group.ident, number=call.number)
        if count < len(group.ranks):
            return
        posts = self.board.posts(group.ident, call.number, group.ranks)
        wrong = judge.compare(posts, f"call {call.number} on {group.label}")
        if wrong is not None:
            self.settle(group.label, wrong)
        words = "breach" if wrong else "one" if judge.together(posts) else "mixed"
        self.board.settle(group.ident, call.number, words)

    def post_of(self, group: Group, call: Call, novelty: Novelty) -> Post:
        mixed = call.way.digest in group.mixed
        return Post(
            group.me, call.words, call.contract, call.way.digest, novelty.value, mixed, group.label, call.at
        )

    def answer(self, ident: str, number: int) -> None:
        """Somebody wants to know what this rank does at that number of a group."""
        group = self.groups.get(ident)
        if group is None:
            return
        with self._lock:
            if number > group.count:
                group.asked.add(number)
                return
            found = next((one for one in reversed(group.past) if one[0].number == number), None)
        if found is not None:
            self.post(group, *found)

    def leave(self, group: Group, wrong: Ruling) -> None:
        """The plan is left: tell everybody, and raise."""
        self.settle(group.label, wrong)
        self._raise()

    def settle(self, label: str, wrong: Ruling) -> None:
        assert self.board is not None
        told = {"message": wrong.message, "odd": wrong.odd, "values": wrong.values, "group": label}
        self.hear(self.board.breach(json.dumps(told)))

    def hear(self, text: str) -> None:
        if self.breach is None:
            self.breach = rebuilt(**json.loads(text))

    def _raise(self) -> None:
        assert self.breach is not None
        if threading.current_thread() is threading.main_thread():
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


def _registered(name: str) -> Any:
    from torch.distributed import distributed_c10d as c10d

    return c10d._resolve_process_group(name)
