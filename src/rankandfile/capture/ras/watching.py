"""`raf watch --ras`: a job that nobody records, by NCCL's RAS alone: of JAX, of an inference engine, of anything."""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rankandfile.capture.case import Wishes, new_folder
from rankandfile.capture.diagnose import diagnose
from rankandfile.capture.ras import words
from rankandfile.capture.ras.client import Address, ask
from rankandfile.capture.ras.looks import Looks
from rankandfile.capture.sentinel import findings
from rankandfile.capture.tower.posting import Posting
from rankandfile.evidence.text.logs.ras.answer import Answer, Communicator, read
from rankandfile.model.digest import Digest, Finding, Group, Job, Report, Standing
from rankandfile.model.ranks import format_ranks

#: After so long without an answer, the job is over.
SILENT_S = 60.0
#: Findings that are told in so many seconds; answers that go into a case.
RATE_S, MOST, KEPT = 60.0, 5, 4
#: Communicators of which a tower is told, the largest first.
GROUPS = 64


@dataclass(frozen=True)
class Options:
    where: Address
    wishes: Wishes
    every: float = 5.0
    patience: float | None = None
    once: bool = False
    told: Sequence[Callable[[Finding, Path | None], None]] = ()
    """Get each finding, and its case where one was made."""
    tower: str | None = None


def watch(options: Options, say: Callable[[str], None]) -> bool:
    """Until the job is over, or Ctrl-C; `once` looks twice. Whether anything was found. Raises OSError where nobody
    answers, and ValueError where what answers is not NCCL's RAS."""
    return _Watch(options, say).until_end()


class _Watch:
    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        self._options, self._say = options, say
        patience = options.every / 2 if options.once else options.patience
        self._looks = Looks(patience)
        self._answers: deque[bytes] = deque(maxlen=KEPT)
        self._found: dict[str, Finding] = {}
        self._said: list[float] = []
        self._posting = Posting(options.tower, say) if options.tower else None
        self._job: Job | None = None

    def until_end(self) -> bool:
        heard, told = time.monotonic(), False
        before: Answer | None = None
        try:
            for _ in self._beats():
                try:
                    data = ask(self._options.where)
                    answer = read(data)
                except (OSError, ValueError) as error:
                    if before is None or self._options.once:
                        raise
                    if not told:
                        self._say(f"no answer from {self._options.where}: {error}")
                    told = True
                    if time.monotonic() - heard > SILENT_S:
                        self._say("the job has ended, or its RAS has")
                        break
                    continue
                heard, told = time.monotonic(), False
                self._answers.append(data)
                if before is None:
                    self._say(words.seen(answer, str(self._options.where)))
                self._look(answer)
                before = answer
        except KeyboardInterrupt:
            pass
        if self._posting is not None:
            self._posting.finish()
        return bool(self._found)

    def _beats(self) -> Iterator[None]:
        yield
        if self._options.once:
            time.sleep(self._options.every)
            yield
            return
        while True:
            time.sleep(self._options.every)
            yield

    def _look(self, answer: Answer) -> None:
        now = time.time()
        new = [self._tell(one, now) for one in self._looks.look(answer, now)]
        if self._options.once and len(self._answers) == 2 and not new:
            self._say(words.state(answer, self._looks.still(now), self._looks.still(now) == 0.0))
        if self._posting is not None:
            self._job = self._job or _job(answer, self._options.where)
            self._posting.post(report(answer, self._job, new, now))

    def _tell(self, finding: Finding, now: float) -> Finding:
        self._said = [at for at in self._said if now - at < RATE_S]
        self._found[finding.id] = finding
        case: Path | None = None
        if finding.over or len(self._said) >= MOST:
            self._say(finding.words)
        else:
            self._said.append(now)
            self._say(f"{finding.words} ({finding.certainty})")
            if not self._options.once or self._options.wishes.out is not None:
                case = self._case(finding)
                finding = msgspec.structs.replace(
                    finding, case=f"{os.uname().nodename}:{case.resolve()}"[:4000]
                )
        for tell in self._options.told:
            tell(finding, case)
        return finding

    def _case(self, finding: Finding) -> Path:
        wishes = self._options.wishes
        case = new_folder(wishes.out)
        evidence = case / "evidence"
        evidence.mkdir(parents=True, exist_ok=True)
        for letter, data in zip("abcdefgh", self._answers, strict=False):  # a number would be a rank's
            (evidence / f"ras-{letter}.{'json' if data.lstrip()[:1] == b'{' else 'txt'}").write_bytes(data)
        findings.write(case, [finding])
        answer = diagnose(case, wishes.source, wishes.unicode, wishes.width)
        if answer.is_hang:
            wishes.show(answer.card)
        self._say(f"case: {case}")
        return case


def report(answer: Answer, job: Job, found: Sequence[Finding], now: float) -> Report:
    """As a tower takes it: launches in place of calls. What was called nobody knows: no sums are told."""
    by_size = sorted(answer.communicators if answer.whole else (), key=lambda one: -one.size)[:GROUPS]
    whole = by_size[0] if by_size else None
    standings: dict[tuple[str, int, str], list[Standing]] = {}
    for one in by_size:
        for part in one.cohorts:
            launched = sum(part.counts.values())
            for member in part.members:
                key = member.host, member.pid, member.device
                standings.setdefault(key, []).append(Standing(_group(one), launched, 0, 0, base=launched))
    digests = tuple(
        Digest(
            rank=member.number, host=member.host, time=now, groups=tuple(told),
            calls=sum(standing.last for standing in told),
        )
        for part in (whole.cohorts if whole is not None else ()) for member in part.members
        if (told := standings.get((member.host, member.pid, member.device)))
    )  # fmt: skip
    groups = tuple(
        Group(
            id=_group(one), name=one.id[:400], size=one.size,
            members=format_ranks(range(one.size)) if one is whole else "",
        )
        for one in by_size
    )  # fmt: skip
    node = f"ras {os.uname().nodename}"
    return Report(job=job, node=node, time=now, digests=digests, groups=groups, findings=tuple(found))


def _group(one: Communicator) -> str:
    return f"ras {one.id}"[:400]


def _job(answer: Answer, where: Address) -> Job:
    ids = sorted(one.id for one in answer.communicators)[:8]
    name = hashlib.sha256(repr((str(where), ids)).encode()).hexdigest()[:16]
    world = max((one.size for one in answer.communicators), default=0)
    return Job(id=name, name=f"NCCL at {where}"[:400], world=world, started=time.time())
