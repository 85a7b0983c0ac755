"""One answer to a blind case against its truth. What the lab's judge marks, it marks here too."""

from __future__ import annotations

import msgspec

from rankandfile.lab.score.answer import Answer, from_diagnosis
from rankandfile.lab.score.judge import judge
from rankandfile.lab.truth import LocationTruth, long_ranks
from rankandfile.model.diagnosis import Diagnosis

from .sealed import SealedCase

#: How sure a verdict must be for its culprits to be more than suspects.
_SURE = ("established", "supported")


class BlindMarks(msgspec.Struct, kw_only=True):
    """None means that the question does not arise."""

    case: str
    kind: str
    form: str
    hang: bool | None
    culprits: bool | None
    nobody: bool | None
    """Of a healthy case: nobody is a culprit. Whoever is suspected, "if it hung", is counted by none."""
    innocents: list[int]
    """Innocent ranks that are blamed, and not as mere suspects."""
    suspects: bool | None
    """Where nobody is blamed for sure, and somebody suspected: all culprits are, and not everybody of the job is."""
    cause: bool | None
    file: bool | None
    line: bool | None
    condition: bool | None
    call: bool | None
    """The earliest call in which the ranks part."""
    abstained: bool
    failed: str | None
    seconds: float
    checked: int = 0
    """Statements about calls that the log of calls can decide."""
    false: list[str] = []
    """Those of them that are not so."""
    patch: bool | None = None
    """The patch that is offered mends the program; None: none is, or it was not run."""
    patch_offered: bool | None = None


def marked(
    case: str,
    kind: str,
    form: str,
    known: SealedCase,
    said: Diagnosis | Answer | str,
    *,
    dumps_only: bool,
    looked: bool,
    seconds: float,
) -> BlindMarks:
    """`said` is a diagnosis, what another analyser said, or why there is neither. `looked`: somebody took stacks."""
    truth = known.truth
    answer = _answer(said)
    usual = judge(truth, answer, dumps_only, looked)
    sure, suspected = named(said) if isinstance(said, Diagnosis) else (set(answer.culprits), set[int]())
    asked = truth.location is not None and usual.location_right is not None
    places = [place for place in (truth.location, *known.accepted) if place is not None]
    return BlindMarks(
        case=case,
        kind=kind,
        form=form,
        hang=usual.hang_right,
        culprits=usual.culprits_right,
        nobody=None if truth.hang else answer.failed is None and not answer.culprits,
        innocents=sorted(set(sure) - set(truth.culprits)),
        suspects=_suspects(truth.culprits, suspected, truth.world_size) if truth.hang and not sure else None,
        cause=usual.cause_right,
        file=any(_in_file(answer, place) for place in places) if asked else None,
        line=any(_on_line(answer, place) for place in places) if asked else None,
        condition=any(_on_condition(answer, place) for place in places) if asked else None,
        call=usual.divergence_right,
        abstained=usual.abstained,
        failed=usual.failed,
        seconds=seconds,
    )


def _answer(said: Diagnosis | Answer | str) -> Answer:
    if isinstance(said, Answer):
        return said
    return Answer(failed=said) if isinstance(said, str) else from_diagnosis(said)


def named(said: Diagnosis) -> tuple[set[int], set[int]]:
    """The ranks that are blamed for sure, and those that are merely suspected."""
    sure = {c.rank for verdict in said.verdicts if verdict.confidence in _SURE for c in verdict.culprits}
    guessed = {c.rank for verdict in said.verdicts for c in (*verdict.culprits, *verdict.suspects)}
    others = (other.culprits for verdict in said.verdicts for other in verdict.alternatives)
    return sure, (guessed | {rank for ranks in others for rank in long_ranks(ranks)}) - sure


def _suspects(culprits: list[int], suspected: set[int], world_size: int) -> bool | None:
    if not suspected:
        return None
    return set(culprits) <= suspected and len(suspected) < world_size


def _in_file(answer: Answer, place: LocationTruth) -> bool:
    if answer.location is None:
        return False
    return f"/{answer.location.file}".replace("\\", "/").endswith(f"/{place.file}")


def _on_line(answer: Answer, place: LocationTruth) -> bool:
    """The line that it names, or that of the condition that it names for it."""
    lines = {answer.location.line if answer.location else None, answer.condition_line}
    return _in_file(answer, place) and place.line in lines


def _on_condition(answer: Answer, place: LocationTruth) -> bool:
    line = answer.condition_line or (answer.location.line if answer.location else None)
    return _in_file(answer, place) and place.line == line
