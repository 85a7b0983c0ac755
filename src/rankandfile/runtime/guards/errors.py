"""What a guard raises. Every error names the guard, its group, the step, and the ranks that stand out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Facts:
    """What is known of a guard that failed; the attributes of every `GuardError`."""

    name: str = ""
    """The guard's name: given, or the line that it stands on."""
    site: str = ""
    group: str = ""
    """The group, with its members."""
    step: str = ""
    """The step, as `step` set it; empty if nothing did."""
    missing: tuple[int, ...] = ()
    """Ranks that never arrived."""
    odd: tuple[int, ...] = ()
    """Ranks whose value is not that of the majority; all ranks where there is none."""
    values: dict[int, str] = field(default_factory=dict)
    """What each rank brought, as text."""


class GuardError(RuntimeError):
    """A guard found that the ranks do not go together. `missing` and `odd` are global ranks."""

    def __init__(self, message: str, facts: Facts | None = None) -> None:
        super().__init__(message)
        self.facts = known = facts or Facts()
        self.name, self.group, self.step = known.name, known.group, known.step
        self.missing, self.odd, self.values = known.missing, known.odd, known.values


class Disagreement(GuardError):
    """All ranks arrived, with different values."""


class GuardTimeout(GuardError, TimeoutError):
    """Ranks did not arrive in time, and nothing tells that they never will."""


class Parted(GuardError):
    """Ranks wait for each other at different guards, or at different steps: they can never meet."""


class PeerFailed(GuardError):
    """Another rank failed, left, or its process is gone."""


class StoreLost(GuardError):
    """The job's store does not answer: the process that serves it, most often rank 0's, is gone."""


def rebuilt(kind: str, message: str, facts: dict[str, Any]) -> GuardError:
    """The error that another rank described; a plain `GuardError` if its kind is unknown here."""
    known = {cls.__name__: cls for cls in (Disagreement, GuardTimeout, Parted, PeerFailed, StoreLost)}
    return known.get(kind, GuardError)(
        message,
        Facts(
            name=str(facts.get("name", "")),
            site=str(facts.get("site", "")),
            group=str(facts.get("group", "")),
            step=str(facts.get("step", "")),
            missing=tuple(facts.get("missing", ())),
            odd=tuple(facts.get("odd", ())),
            values={int(rank): str(value) for rank, value in facts.get("values", {}).items()},
        ),
    )
