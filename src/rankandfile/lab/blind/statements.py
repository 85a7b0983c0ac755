"""What a diagnosis says of calls, held against the log of calls, which is independent of any recorder and analyser.

Only what the log can decide is checked: who waits in which call of which group, who has not come, what each cohort did
where they part, that the condition stands on its line, and which way ranks went there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab.calls import Call, CallLog, Group
from rankandfile.lab.truth import long_ranks
from rankandfile.model.diagnosis import Cohort, Diagnosis, Divergence, Location, Verdict, Wait

from .branches import branches
from .named_file import named_file
from .numbering import same_op

#: Of these divergences it is said that whom one waits for has not made the call.
_NOT_CALLED = ("skipped", "extra", "substituted", "absent")


class Statement(NamedTuple):
    words: str
    holds: bool


def statements(said: Diagnosis, log: CallLog, src: Path, otherwise: Collection[str] = ()) -> list[Statement]:
    """`otherwise`: groups whose calls the log does not number as the recorders did, so that it cannot decide."""
    log = CallLog(tuple(group for group in log.groups if group.name not in otherwise), log.calls)
    return [
        statement
        for verdict in said.verdicts
        for statement in (
            *(one for wait in verdict.waits for one in _of_wait(wait, verdict.divergence, log)),
            *_of_divergence(verdict.divergence, log),
            *_of_location(verdict.location, src),
            *_of_branches(verdict, log, src),
        )
    ]


def _of_wait(wait: Wait, divergence: Divergence | None, log: CallLog) -> Iterator[Statement]:
    if wait.seq is None or wait.op is None:
        return
    for rank in long_ranks(wait.ranks):
        if (group := _group(wait.group, rank, log)) is not None:
            yield Statement(
                f"rank {rank} waits in {wait.op} #{wait.seq} of {wait.group}",
                any(same_op(call.op, wait.op) for call in _made(group, rank, wait.seq, log)),
            )
    if divergence is None or divergence.kind not in _NOT_CALLED or wait.unseen:
        return
    for rank in long_ranks(wait.waits_for):
        if (group := _group(wait.group, rank, log)) is not None:
            yield Statement(
                f"rank {rank} has not come to {wait.op} #{wait.seq} of {wait.group}",
                not any(same_op(call.op, wait.op) for call in _made(group, rank, wait.seq, log))
                or not _same_path(group, wait, rank, log),
            )


def _of_divergence(divergence: Divergence | None, log: CallLog) -> Iterator[Statement]:
    for cohort in divergence.cohorts if divergence is not None else ():
        for rank in long_ranks(cohort.ranks):
            if divergence is not None and cohort.call is not None:
                yield Statement(f"rank {rank} made {_words(cohort)}", _made_such(cohort, rank, log))
            elif divergence is not None and divergence.seq is not None and not cohort.unknown:
                group = _group(divergence.group, rank, log)
                if group is not None:
                    words = f"rank {rank} made no call #{divergence.seq} of {divergence.group}"
                    yield Statement(words, not _made(group, rank, divergence.seq, log))


def _of_location(place: Location | None, src: Path) -> Iterator[Statement]:
    if place is None or not place.condition:
        return
    line = place.condition_line or place.line
    name = named_file(place.file, src)
    if line is None or name is None:
        return
    # A condition may go over several lines.
    text = "".join(
        "".join((src / name).read_text(encoding="utf-8").splitlines()[line - 1 : line + 9]).split()
    )
    wanted = "".join(place.condition.removesuffix("…").split())
    yield Statement(f"{place.file}:{line} is {place.condition}", wanted in text)


def _of_branches(verdict: Verdict, log: CallLog, src: Path) -> Iterator[Statement]:
    for one in branches(verdict, log, src):
        if one.so is not None:
            found = "true" if one.claim.truth else "false"
            words = f"rank {one.rank} found line {one.claim.line} of {one.claim.file} {found}"
            yield Statement(words, one.so)


def _words(cohort: Cohort) -> str:
    assert cohort.call is not None
    at = f" at {cohort.call.file}:{cohort.call.line}" if cohort.call.file else ""
    return f"{cohort.call.op}{at}"


def _made_such(cohort: Cohort, rank: int, log: CallLog) -> bool:
    wanted = cohort.call
    assert wanted is not None
    mine = [call for call in log.calls if call.rank == rank and same_op(call.op, wanted.op)]
    if wanted.file is None or wanted.line is None:
        return bool(mine)
    sites = {(file, line) for call in mine for file, line, _ in call.stack}
    # Of a call from a library's own lines the log has the user's frames alone.
    inside = any(f"/{wanted.file}".endswith(f"/{file}") for call in log.calls for file, _, _ in call.stack)
    return not inside or any(
        f"/{wanted.file}".endswith(f"/{file}") and line == wanted.line for file, line in sites
    )


def _same_path(group: Group, wait: Wait, rank: int, log: CallLog) -> bool:
    """Rank and those who wait made the call from the same lines: then it has come to it."""
    waiting = {call.stack for one in long_ranks(wait.ranks) for call in _made(group, one, wait.seq or 0, log)}
    return any(call.stack in waiting for call in _made(group, rank, wait.seq or 0, log))


def _group(named: str, rank: int, log: CallLog) -> Group | None:
    """The one group of this name or description that the rank is in; None where that is not clear."""
    words = {named, named.split(" ")[0], named.split(":")[0]}
    found = [group for group in log.groups if words & {group.name, group.desc} and rank in group.ranks]
    return found[0] if len(found) == 1 else None


def _made(group: Group, rank: int, seq: int, log: CallLog) -> list[Call]:
    return [call for call in log.of(group, rank) if call.seq == seq]
