"""Programs of opened blind sets: those in which ranks took different paths, and the healthy ones."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab.blind import case as blind
from rankandfile.lab.blind import sealed
from rankandfile.lab.blind.sealed import SealedCase
from rankandfile.lab.run import lacking
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError
from rankandfile.lab.truth import FAMILIES, LocationTruth, long_ranks

from .enforced import Ran, run, shows, told

#: After the first wrong call.
SOON_S = 2.0


class Hang(NamedTuple):
    """One program that would hang."""

    after_s: float | None
    """None: it was not ended because of the plan, or nothing tells when it was left."""
    told: bool = False
    right: bool = False
    """None but culprits is named."""
    among: bool = False
    """Nobody is named, as nothing tells who is right; a culprit is among those whose calls are shown."""
    line: bool = False
    first: bool = False
    """The call that is told is that of the truth, by its number."""

    @property
    def words(self) -> str:
        if not self.told:
            return "ended by itself" if self.after_s is not None else "HANGS"
        after = "?" if self.after_s is None else f"{self.after_s:.2f} s"
        who = "right ranks" if self.right else "among several" if self.among else "WRONG RANKS"
        return f"{after}, {who}{', line' * self.line}{', first call' * self.first}"


def sets(folders: Sequence[Path]) -> None:
    hangs: list[Hang] = []
    healthy: list[str] = []
    for folder in folders:
        known = sealed.read(folder).content.cases
        for case in blind.cases(folder):
            truth = known[case.name].truth
            if truth.hang and truth.family != FAMILIES["paths"]:
                continue
            scenario = blind.to_run(case, truth.title, truth.cause, truth.culprits)
            try:
                if lack := lacking(scenario) or blind.lacks(case):
                    raise ScenarioError(f"needs {lack}")
                ran = run(scenario)
                if truth.hang:
                    hangs.append(_hang(ran, known[case.name]))
                    words = hangs[-1].words
                else:
                    healthy.append(_healthy(ran, scenario))
                    words = f"healthy: {healthy[-1] or 'ran to its end'}"
            except ScenarioError as error:
                words = f"left out: {str(error).splitlines()[0][:90]}"
            print(f"{folder.name}/{case.name}: {words}", flush=True)
    _print_sum(hangs, healthy)


def _hang(ran: Ran, known: SealedCase) -> Hang:
    said = told(ran.log)
    if said is None or not ran.ended:
        return Hang(0.0 if ran.ended else None, told=ran.left and ran.ended > 0)
    truth = known.truth
    return Hang(
        ran.after(said.at),
        told=True,
        right=bool(said.named) and said.named <= {*truth.culprits},
        among=not said.named and bool({*truth.culprits} & said.shown),
        line=shows(said.words, _places(known)),
        first=said.number == truth.divergence.seq,
    )


def _places(known: SealedCase) -> list[LocationTruth]:
    """Where the culprits part, or, where they make no call, the call that they leave out; and the decision."""
    truth = known.truth
    calls = [one for one in truth.divergence.cohorts if one.file]
    theirs = [one for one in calls if {*long_ranks(one.ranks)} & {*truth.culprits}]
    decision = [truth.location] if truth.location is not None else []
    return [
        *(LocationTruth(file=one.file, line=one.line, function=one.function) for one in theirs or calls),
        *known.accepted,
        *decision,
    ]


def _healthy(ran: Ran, scenario: Scenario) -> str:
    """What harm was done to it; empty if none."""
    if ran.left:
        return "STOPPED"
    if ran.ended and not any(ran.exits.values()):
        return ""
    bare = run(scenario, under=())
    return "" if bare.ended and ran.exits == bare.exits else f"HARMED: {ran.exits}, and bare {bare.exits}"


def _print_sum(hangs: Sequence[Hang], healthy: Sequence[str]) -> None:
    told_ = [one for one in hangs if one.told]
    times = sorted(one.after_s for one in told_ if one.after_s is not None)
    if times:
        print(
            f"{len(hangs)} programs: {len(told_)} ended by the plan, {sum(one <= SOON_S for one in times)} of them "
            f"within {SOON_S:.0f} s of the call that it takes for the first wrong one (median "
            f"{statistics.median(times):.2f} s, longest {times[-1]:.2f} s); {sum(one.right for one in told_)} name "
            f"none but culprits, {sum(one.among for one in told_)} say that nothing tells who of several is right, "
            f"a culprit among them; {sum(one.line for one in told_)} show a line of the truth, "
            f"{sum(one.first for one in told_)} are told at the truth's own call"
        )
    print(
        f"{len(healthy)} healthy ones: {sum(not one for one in healthy)} ran to their end as without a plan"
    )
