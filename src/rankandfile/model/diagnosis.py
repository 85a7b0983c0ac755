"""The diagnosis: what ``--format json`` prints, and what every renderer reads.

The keys are frozen: other tools read them. New keys may be added with a default; none changes its meaning
without a new schema number. The JSON Schema is published in ``docs/schema/``.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from .claims import Claim
from .document import pretty, schema_of
from .ledger import Evidence, Note

SCHEMA = "rankandfile.diagnosis/1"

Confidence = Literal["established", "supported", "hypothesis"]
#: As people say it: what every output for people has. The document keeps its words.
SURE: dict[Confidence, str] = {"established": "certain", "supported": "likely", "hypothesis": "possible"}
#: The surest first.
ORDER_OF_CONFIDENCE: dict[Confidence, int] = {"established": 0, "supported": 1, "hypothesis": 2}


class Struct(msgspec.Struct, kw_only=True):
    """Base of all parts of the document: keyword-only, so that a reader sees what each value is."""


class Culprit(Struct):
    rank: int
    host: str | None = None
    doing: str | None = None
    """What it did instead of joining, in words, as far as the evidence tells."""


class Call(Struct):
    """One call as a person would name it."""

    op: str
    seq: int | None = None
    file: str | None = None
    line: int | None = None
    function: str | None = None
    detail: str | None = None
    """What sets it apart where that is not the op or the place: a size, a dtype, a root, a peer."""
    evidence: list[str] = msgspec.field(default_factory=list)
    group: str | None = None
    """The group it was made on, where a record tells it: `seq` counts that group's calls."""
    implied_by: str | None = None
    """What makes it, where its line does not name it: "DDP may broadcast buffers here"."""


class Cohort(Struct):
    ranks: str
    call: Call | None = None
    """The cohort's call at the divergence; null: it made none there."""
    unknown: bool = False
    """Nothing tells whether it made one there."""


class Divergence(Struct):
    group: str
    seq: int | None
    kind: str
    """skipped, extra, swapped, substituted, argument, absent, or cycle."""
    cohorts: list[Cohort]
    members: str | None = None
    exact: bool = True
    """False: the true beginning lies before what the rings kept; `seq` is the earliest that can be proved."""
    place: str | None = None
    """The how-manieth call by its path, as far as the ring reaches back: 'the 41st call by this path (train.py:88)'."""


class FlaggedBefore(Struct):
    """What `raf lint` says of a line of the code that ran: it would have said so before the run."""

    rule: str
    severity: Literal["error", "warning"]
    file: str
    line: int
    message: str


class Location(Struct):
    file: str
    line: int | None = None
    function: str | None = None
    condition: str | None = None
    condition_line: int | None = None
    why_it_can_differ: str | None = None
    because: str | None = None
    """In a few words: 'it depends on `self.bad_rounds` (trainer.py:77), and thereby on this rank's own data, ...'."""
    parted_file: str | None = None
    """Where the ranks went different ways, if what stands here was decided before: a counter changed, or not."""
    parted_line: int | None = None
    flagged_before: FlaggedBefore | None = None
    """The linter's finding at this line, or at the one where the ranks went different ways. It proves nothing."""
    others_unseen: bool = False
    """Nothing shows that both sides came to the condition: one of them may never have been asked."""


class ExcerptLine(Struct):
    number: int
    text: str
    cohorts: list[int] = msgspec.field(default_factory=list)
    """Cohorts of the excerpt whose way leads over this line, as positions in its `cohorts`."""
    mark: Literal["", "condition", "call"] = ""
    """The condition at which the ranks went different ways, or a call that a cohort made next."""


class Excerpt(Struct):
    """The code around the place where they went different ways, with the ways of the cohorts marked."""

    file: str
    function: str | None = None
    cohorts: list[str] = msgspec.field(default_factory=list)
    """Ranks of each cohort, as text; the culprits' is the last."""
    lines: list[ExcerptLine] = msgspec.field(default_factory=list)
    note: str | None = None
    """What a reader must know of it: the source does not match what ran, for one."""


class Wait(Struct):
    """These ranks cannot go on until those join this call."""

    ranks: str
    waits_for: str
    group: str
    seq: int | None = None
    op: str | None = None
    by: Literal["device", "host"] = "device"
    evidence: list[str] = msgspec.field(default_factory=list)
    unseen: bool = False
    """Nothing tells whether those whom they wait for have come to the call: nobody heard of them."""


class Alternative(Struct):
    cause: str
    confidence: Confidence
    sentence: str
    culprits: str = ""
    decided_by: str | None = None
    """The evidence that would tell it from the verdict."""


#: The title of a remedy for which there is no patch; its text alone says what is to be decided.
BY_HAND = "By hand"


class Remedy(Struct):
    title: str
    text: str
    diff: str | None = None


class Probe(Struct):
    title: str
    text: str
    diff: str | None = None


class Missing(Struct):
    """Evidence that is not there, and how to have it next time."""

    what: str
    how: str


class Verdict(Struct):
    hang: bool | None
    """null: nothing tells."""
    cause: str
    family: str
    confidence: Confidence
    sentence: str
    culprits: list[Culprit] = msgspec.field(default_factory=list)
    suspects: list[Culprit] = msgspec.field(default_factory=list)
    """Who would be the culprits if this story is right, where it is not proved."""
    assumed: str | None = None
    """What is taken for true because nothing tells it: 'it hung: the files do not tell when they were written'."""
    ordinary: bool = False
    """When somebody looked, nobody had waited longer than the job's calls do: who was late had not gone astray."""
    victims: str = ""
    divergence: Divergence | None = None
    location: Location | None = None
    waits: list[Wait] = msgspec.field(default_factory=list)
    evidence: list[str] = msgspec.field(default_factory=list)
    alternatives: list[Alternative] = msgspec.field(default_factory=list)
    remedies: list[Remedy] = msgspec.field(default_factory=list)
    anti_advice: list[str] = msgspec.field(default_factory=list)
    probes: list[Probe] = msgspec.field(default_factory=list)
    missing_evidence: list[Missing] = msgspec.field(default_factory=list)
    excerpts: list[Excerpt] = msgspec.field(default_factory=list)
    claims: list[Claim] = msgspec.field(default_factory=list)
    """What the verdict states, one checked statement each."""

    @property
    def named(self) -> list[Culprit]:
        """Those whom it is about: the culprits or, where nothing is proved, the suspects."""
        return self.culprits or self.suspects


class Standing(Struct):
    """Where ranks are, from the best that tells it."""

    ranks: str
    state: Literal["waits", "stands", "gone", "unknown"]
    what: str
    """Where or in what it is, how it went, or why nothing is known."""
    moving: bool | None = None
    """Other frames in another snapshot, or running. None: seen once, or never."""
    told_by: Literal["calls", "stack", "log", "exit", "nothing"] = "nothing"
    location: Location | None = None
    evidence: list[str] = msgspec.field(default_factory=list)


class GroupSummary(Struct):
    name: str
    desc: str
    members: str | None
    size: int | None


class Job(Struct):
    world_size: int | None
    ranks_seen: str
    groups: list[GroupSummary]
    """At most a screenful: families of like groups are summarised by their first; `group_count` has the number."""
    group_count: int
    calls: int
    dumps: int
    backends: list[str] = msgspec.field(default_factory=list)
    versions: list[str] = msgspec.field(default_factory=list)


class Diagnosis(Struct):
    job: Job
    verdicts: list[Verdict]
    evidence: list[Evidence]
    notes: list[Note]
    standings: list[Standing] = msgspec.field(default_factory=list)
    """Where every rank is, those in the same place together, the fewest first."""
    schema: str = SCHEMA


def to_json(diagnosis: Diagnosis) -> bytes:
    return pretty(diagnosis)


def from_json(data: bytes) -> Diagnosis:
    return msgspec.json.decode(data, type=Diagnosis)


def json_schema() -> dict[str, Any]:
    return schema_of(Diagnosis, "diagnosis", "Rank & File diagnosis")
