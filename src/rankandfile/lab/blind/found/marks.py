"""One answer to a folder of found evidence, against what a perfect reader of it could say."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from rankandfile.lab.blind.marks import named
from rankandfile.model.diagnosis import Diagnosis

from .case import FoundTruth

Mark = Literal["right", "partly", "nothing", "wrong"]
MARKS: tuple[Mark, ...] = ("right", "partly", "nothing", "wrong")


class FoundMarks(msgspec.Struct, kw_only=True):
    """None means that the question does not arise."""

    case: str
    form: str
    mark: Mark
    hang: bool | None
    culprits: bool | None
    """Exactly those whom the evidence tells are named, for sure or as suspects; of nobody where it tells none."""
    cause: bool | None
    line: bool | None
    lacks: list[str]
    """Facts of a useful answer that it does not hold."""
    innocents: list[int]
    untrue: list[str]
    """The author's patterns of untrue sentences that it matches."""
    failed: str | None
    seconds: float


def marked(
    name: str, truth: FoundTruth, said: Diagnosis | str, card: str, page: str, seconds: float
) -> FoundMarks:
    """`card` is what a person reads first, `page` everything that the answer holds; `said` may be why there is none."""
    if isinstance(said, str):
        return FoundMarks(
            case=name, form=truth.form, mark="wrong", hang=False, culprits=False, cause=None, line=None,
            lacks=truth.says, innocents=[], untrue=[], failed=said, seconds=seconds,
        )  # fmt: skip
    sure, suspected = named(said)
    one = FoundMarks(
        case=name,
        form=truth.form,
        mark="nothing",
        hang=_hang(truth, said),
        culprits=_culprits(truth, sure, suspected),
        cause=_cause(truth, said),
        line=_line(truth, said),
        lacks=[fact for fact in truth.says if not re.search(fact, page, re.IGNORECASE)],
        innocents=sorted(sure - {*truth.culprits, *truth.suspects}),
        untrue=[words for words in truth.never if re.search(words, card, re.IGNORECASE)],
        failed=None,
        seconds=seconds,
    )
    return msgspec.structs.replace(one, mark=_mark(one))


def _mark(one: FoundMarks) -> Mark:
    if one.innocents or one.untrue or one.hang is False:
        return "wrong"
    asked = [one.culprits, one.cause]
    if False not in asked and not one.lacks:
        return "right"
    return "partly" if True in asked or not one.lacks else "nothing"


def _hang(truth: FoundTruth, said: Diagnosis) -> bool | None:
    """Not knowing is not wrong; the opposite of what the evidence shows is."""
    told = {verdict.hang for verdict in said.verdicts} - {None}
    if truth.hang is None or not told:
        return None
    return (True in told) == truth.hang


def _culprits(truth: FoundTruth, sure: set[int], suspected: set[int]) -> bool | None:
    if truth.culprits:
        return sure == set(truth.culprits) or (not sure and set(truth.culprits) == suspected)
    if truth.suspects:
        return bool(suspected | sure) and (suspected | sure) <= set(truth.suspects)
    return None if not sure else False


def _cause(truth: FoundTruth, said: Diagnosis) -> bool | None:
    if not truth.cause:
        return None
    return bool(said.verdicts) and said.verdicts[0].cause in {truth.cause, *truth.accepted_causes}


def _line(truth: FoundTruth, said: Diagnosis) -> bool | None:
    if truth.location is None:
        return None
    places = [verdict.location for verdict in said.verdicts if verdict.location is not None]
    return any(
        f"/{place.file}".endswith(f"/{truth.location.file}")
        and truth.location.line in (place.line, place.condition_line)
        for place in places
    )
