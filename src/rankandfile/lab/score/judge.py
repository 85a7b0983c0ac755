"""One answer against one truth: what was right, and who was blamed without cause."""

from __future__ import annotations

import msgspec

from rankandfile.lab.truth import Truth, long_ranks
from rankandfile.model.causes import CAUSES

from .answer import Answer, Site
from .told_by_logs import Told


class Marks(msgspec.Struct, kw_only=True):
    """None means that the question does not arise for this incident."""

    incident: str
    cause_expected: str
    removed: str
    """What was taken away from the incident last, if anything: a variant may be made of one that lacked something."""
    hang_right: bool | None
    culprits_right: bool | None
    innocents_blamed: list[int]
    cause_right: bool | None
    divergence_right: bool | None
    location_right: bool | None
    """File and function."""
    location_wrong: bool | None
    """A place was named, and it is in another file or function."""
    condition_right: bool | None
    group_right: bool | None
    """The stuck group, where the analyser reads logs and they tell it."""
    behind_right: bool | None
    """The ranks that are behind in it, likewise."""
    abstained: bool
    abstained_rightly: bool | None
    failed: str | None
    seconds: float
    peak_mib: float
    said_culprits: list[int] = []
    said_cause: str | None = None


def judge(
    truth: Truth, answer: Answer, dumps_only: bool = True, looked: bool = True, in_logs: Told | None = None
) -> Marks:
    """`dumps_only`: the analyser uses nothing but dumps, so that is all it is asked for.

    `in_logs`: what the logs tell, for an analyser that reads nothing else.
    `looked`: somebody took stacks. Where nobody did, nothing tells the line at which a host or a device is held.
    """
    tellable = truth.culprits_from_dumps if dumps_only else truth.culprits
    guilty = set(truth.culprits)
    said = set(answer.culprits)
    # Naming the true culprits is right even where the dumps alone would excuse saying nothing.
    # A crash is no abstention.
    culprits_right = answer.failed is None and (said == guilty or said == set(tellable))
    abstains = answer.abstains and answer.failed is None
    innocents = sorted(said - guilty)
    expected_cause = truth.cause_from_dumps if dumps_only else truth.cause
    return Marks(
        incident=truth.name,
        cause_expected=truth.cause,
        removed=truth.removed[-1] if truth.removed else "",
        hang_right=_hang(truth, answer),
        culprits_right=culprits_right if truth.hang else None,
        innocents_blamed=innocents,
        cause_right=_cause(truth, answer, expected_cause, dumps_only),
        divergence_right=_divergence(truth, answer),
        location_right=_location(truth, answer) if placeable(truth, looked) else None,
        location_wrong=answer.location is not None and _location(truth, answer) is False,
        condition_right=_condition(truth, answer) if placeable(truth, looked) else None,
        group_right=_stuck_group(truth, answer) if in_logs and in_logs.group else None,
        behind_right=set(answer.behind) == set(in_logs.behind) if in_logs and in_logs.behind else None,
        abstained=abstains,
        abstained_rightly=(not tellable) if truth.hang and abstains else None,
        failed=answer.failed,
        seconds=answer.seconds,
        peak_mib=answer.peak_mib,
        said_culprits=answer.culprits,
        said_cause=answer.cause,
    )


def _hang(truth: Truth, answer: Answer) -> bool | None:
    if answer.hang is None:
        # Not claiming a hang where there is none is no error, and no success.
        return None if not truth.hang and answer.failed is None else False if not truth.hang else None
    return answer.hang == truth.hang


def _cause(truth: Truth, answer: Answer, expected: str, dumps_only: bool) -> bool | None:
    if not truth.hang or (dumps_only and not truth.decidable_from_dumps):
        return None
    return answer.cause in {expected, truth.cause, *truth.accepted_causes}


def _divergence(truth: Truth, answer: Answer) -> bool | None:
    wanted = truth.divergence
    if not truth.hang or not truth.culprits_from_dumps or wanted.kind == "none":
        return None
    if wanted.seq and answer.seq == wanted.seq and _same_group(truth, answer):
        return True
    # The call may carry another number in what an analyser counts; its call sites do not lie.
    sites = {(cohort.file, cohort.line) for cohort in wanted.cohorts if cohort.file and cohort.line}
    found = {
        (_tail(site.file, len(file.split("/"))), site.line) for site in answer.sites for file, _ in sites
    }
    return bool(sites) and sites <= found


def _same_group(truth: Truth, answer: Answer) -> bool:
    names = {truth.divergence.group, truth.divergence.description}
    said = answer.group or ""
    return said in names or said.split(" ")[0] in names or said.split(":")[0] in names


def _stuck_group(truth: Truth, answer: Answer) -> bool:
    """Many groups share a description: those said to wait must be members too, or wait in the same call of a sibling.

    Of a circle, each of its groups is as good as the others.
    """
    wanted = truth.divergence
    if wanted.kind == "cycle" and answer.waiting:
        return set(answer.waiting) <= {rank for cohort in wanted.cohorts for rank in long_ranks(cohort.ranks)}
    inside = set(answer.waiting) <= set(wanted.members) or (wanted.seq > 0 and answer.seq == wanted.seq)
    return _same_group(truth, answer) and inside


def placeable(truth: Truth, looked: bool) -> bool:
    """Whether what was left behind can tell the place."""
    return (
        looked
        or truth.cause not in CAUSES
        or CAUSES[truth.cause].family not in ("host", "device", "start_and_end")
    )


def _location(truth: Truth, answer: Answer) -> bool | None:
    if truth.location is None or not truth.hang:
        return None
    if answer.location is None or not _ends_with(answer.location, truth.location.file):
        return False
    return answer.function is None or answer.function.rsplit(".", 1)[-1] == truth.location.function


def _condition(truth: Truth, answer: Answer) -> bool | None:
    if truth.location is None or not truth.hang or not truth.location.condition:
        return None
    line = answer.condition_line or (answer.location.line if answer.location else None)
    return bool(_location(truth, answer)) and line == truth.location.line


def _ends_with(site: Site, file: str) -> bool:
    return _tail(site.file, len(file.split("/"))) == file


def _tail(path: str, parts: int) -> str:
    return "/".join(path.replace("\\", "/").split("/")[-parts:])
