"""A call behind an emitter: the listener's own test is found, and no way is said that is not shown."""

from __future__ import annotations

import pytest
from support.source.toy_runs import located, play

from rankandfile.model.claims import TookBranch
from rankandfile.model.diagnosis import Verdict

TRAIN = """
    import os
    import torch.distributed as dist
    from events import Events

    EVERY = int(os.environ.get("EVERY", "2"))
    OWN = [3, 1]

    def attach(events):
        best = [9]

        {register}
        def keep(value):
            if value < best[0]:  # <-
                dist.all_gather(value)

        {after}

    def main():
        events = Events()
        attach(events)
        for step in range(1, 5):
            dist.all_reduce(step)
            if step % EVERY == 0:
                events.emit("scored", value=step - OWN[dist.get_rank()] + 8)
                events.emit("ended", value=step)
"""

EVENTS = """
    class Events:
        def __init__(self):
            self.kept = {}

        def on(self, name, listener=None):
            if listener is not None:
                self.kept.setdefault(name, []).append(listener)
                return listener
            def add(listener):
                self.kept.setdefault(name, []).append(listener)
                return listener
            return add

        def emit(self, name, **given):
            for listener in self.kept.get(name, ()):
                listener(**given)
"""


def parted(register: str, after: str = "return events", events: str = EVENTS) -> Verdict:
    return located(play(2, train=TRAIN.format(register=register, after=after), events=events), 0)


def branches(verdict: Verdict) -> dict[int, dict[str, bool]]:
    found: dict[int, dict[str, bool]] = {}
    for claim in verdict.claims:
        if isinstance(claim, TookBranch):
            found.setdefault(claim.line, {})[claim.ranks] = claim.truth
    return found


@pytest.mark.parametrize(
    ("register", "after"),
    [('@events.on("scored")', "return events"), ("", 'events.on("scored", keep)')],
    ids=["by a decorator", "by a call"],
)
def test_the_test_in_the_listener_is_what_parted_them(register: str, after: str) -> None:
    verdict = parted(register, after)
    assert verdict.location is not None
    assert verdict.location.condition == "if value < best[0]:"
    assert "rank" in (verdict.location.because or "")
    assert set(branches(verdict)) == {verdict.location.line}


def test_what_another_event_is_told_does_not_count() -> None:
    """The value that the ranks have of their own goes with the other event."""
    verdict = parted('@events.on("ended")')
    assert verdict.location is None or "value" not in (verdict.location.why_it_can_differ or "")


def test_where_nobody_can_follow_them_less_is_said() -> None:
    """The step's test is equal on all ranks: who was not seen behind it may have come by there in silence."""
    hidden = EVENTS.replace("listener(**given)", "getattr(listener, '__call__')(**given)")
    verdict = parted('@events.on("scored")', events=hidden)
    assert [
        taken for by_ranks in branches(verdict).values() for taken in by_ranks.values() if not taken
    ] == []
    assert "not taken on" not in verdict.sentence
