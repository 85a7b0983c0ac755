"""What really happened in one incident: the file `truth.toml`, which no analyser may see.

Cohort ranks are written in the short form people use ("0-2,5"). `file` is relative to `src/`. Sequence numbers
count the collectives of a group from 1, as the Flight Recorder does; 0 means that the call has none (send, recv).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from rankandfile.lab import toml
from rankandfile.model.causes import CAUSES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

FAMILIES = {
    "paths": "ranks took different paths",
    "arguments": "arguments differ",
    "host": "host did not get there",
    "process": "process gone",
    "device": "device",
    "fabric": "fabric",
    "start_and_end": "start and end",
    "not_a_fault": "not a fault",
    "honesty": "honesty",
}
"""The words of each family of causes."""

SCHEMA = "rankandfile.truth/1"
FILE = "truth.toml"


class CohortTruth(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Ranks that behaved alike at the divergence; an empty `op` means no further call on the group."""

    ranks: str
    op: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    group: str = ""
    seq: int = 0


class DivergenceTruth(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The earliest place where the ranks of one group stopped agreeing.

    kind: skipped, extra, substituted, swapped, absent, argument, cycle, none.
    """

    kind: str
    group: str = ""
    description: str = ""
    members: list[int] = []
    seq: int = 0
    cohorts: list[CohortTruth] = []


class LocationTruth(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The line at which the ranks diverged, and the condition on it."""

    file: str
    line: int
    function: str
    condition: str = ""


class FixTruth(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The accepted fix, as a sentence and as a unified diff of the source tree."""

    summary: str = ""
    diff: str = ""


class Truth(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One incident. `culprits_from_dumps` and `cause_from_dumps` say what the dumps alone can tell: empty means
    that an analyser which sees nothing else must abstain."""

    schema: str = SCHEMA
    name: str
    title: str
    program: str
    origin: str = "real"
    world_size: int
    hang: bool
    cause: str
    family: str
    culprits: list[int]
    accepted_causes: list[str] = []
    decidable_from_dumps: bool = False
    cause_from_dumps: str = ""
    culprits_from_dumps: list[int] = []
    decoys: list[int] = []
    removed: list[str] = []
    seen_in: str = ""
    twin: bool = False
    divergence: DivergenceTruth
    location: LocationTruth | None = None
    fix: FixTruth | None = None


def family_of(cause: str) -> str:
    return FAMILIES[CAUSES[cause].family]


def short_ranks(ranks: Iterable[int]) -> str:
    """0, 1, 2, 5 as "0-2,5"."""
    parts: list[list[int]] = []
    for rank in sorted(ranks):
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def long_ranks(text: str) -> list[int]:
    """ "0-2,5" as 0, 1, 2, 5."""
    out: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        out.extend(range(int(first), int(last or first) + 1))
    return out


def write(truth: Truth, incident: Path) -> None:
    """Write `truth.toml` of this incident; the schema comes first, whatever is omitted."""
    document: dict[str, Any] = {"schema": truth.schema, **msgspec.to_builtins(truth)}
    for key in (
        "hang",
        "twin",
        "decidable_from_dumps",
        "culprits",
        "culprits_from_dumps",
        "removed",
        "decoys",
    ):
        document.setdefault(key, msgspec.to_builtins(getattr(truth, key)))
    (incident / FILE).write_text(toml.dumps(document))


def read(incident: Path) -> Truth:
    """The truth of this incident."""
    return msgspec.convert(tomllib.loads((incident / FILE).read_text()), Truth)
