"""What is examined: the settings as the job gets them, and the release of torch that reads them."""

from __future__ import annotations

import re
from functools import cached_property

from msgspec import Struct

from rankandfile.model.settings import Costs, Finding, Place, Setting, Settings, Severity

from .table import (
    Release,
    Spelling,
    Variable,
    shown,
)

TRUE, FALSE = {"y", "yes", "1", "t", "true"}, {"n", "no", "0", "f", "false"}
"""As torch reads flags, whatever the case."""

_LEADING = re.compile(r"\s*([+-]?\d{1,18})")

KILL_GRACE_S = 30.0
"""Slurm's KillWait, Kubernetes' terminationGracePeriodSeconds and torchrun's patience, where nobody sets them."""


class Options(Struct, frozen=True, kw_only=True):
    """What the person says beyond the files."""

    calls_per_step: int | None = None
    steps_to_keep: int = 2
    dump_dir: str | None = None
    grace_s: float | None = None


class JobSetup(Struct, frozen=True, dict=True):
    settings: Settings
    release: Release | None
    options: Options

    @cached_property
    def effective(self) -> dict[str, Setting]:
        """Name -> the last assignment that reaches the job."""
        last = {one.name: one for one in self.settings.settings if not one.lost}
        return {name: one for name, one in last.items() if one.value is not None}

    def reads(self, spelling: Spelling) -> bool:
        """This torch reads the name; so it is taken to where nothing says otherwise."""
        return self.release is None or spelling.since is None or spelling.since <= self.release

    def setting(self, variable: Variable) -> Setting | None:
        """The assignment that counts."""
        found = (self.effective.get(one.name) for one in variable.spellings if self.reads(one))
        return next((one for one in found if one is not None), None)

    def value(self, variable: Variable) -> str | None:
        """As set, else the default; None where neither is known."""
        found = self.setting(variable)
        return found.value if found is not None else variable.default(self.release)

    def flag(self, variable: Variable) -> bool | None:
        value = (self.value(variable) or "").strip().lower()
        return True if value in TRUE else False if value in FALSE else None

    def number(self, variable: Variable) -> int | None:
        """The way ``std::stoi`` reads it: up to the first character that is no digit."""
        found = _LEADING.match(self.value(variable) or "")
        return int(found[1]) if found else None

    def given(self, name: str) -> str | None:
        """The value of any variable, if it is set."""
        found = self.effective.get(name)
        return found.value if found is not None else None

    def advised(self, variable: Variable) -> str:
        """The spelling to recommend: one that this torch reads, or that most do where the release is unknown."""
        if self.release is None:
            old = [one for one in variable.spellings if one.since is None or one.since >= (2, 2)]
            return old[-1].name
        for one in variable.spellings:
            start = one.advised_from or one.since
            if start is None or start <= self.release:
                return one.name
        return variable.spellings[-1].name

    @property
    def torch(self) -> str:
        return f"torch {shown(self.release)}" if self.release else "torch (release not known)"

    @property
    def has_recorder(self) -> bool:
        return self.release is None or self.release >= (2, 2)

    def finding(
        self,
        severity: Severity,
        says: str,
        fix: str = "",
        *,
        at: Setting | Place | None = None,
        variable: str = "",
        exports: dict[str, str | None] | None = None,
        costs: Costs | None = None,
    ) -> Finding:
        """A finding at an assignment, at a place, or at the whole of what is examined; `checks` signs it."""
        place = at.place if isinstance(at, Setting) else at if at is not None else self.settings.place
        if not variable and isinstance(at, Setting):
            variable = at.name
        return Finding(
            severity=severity,
            check="",
            says=_one_line(says),
            fix=_one_line(fix or _exported(exports or {})),
            variable=variable,
            place=place,
            exports=exports or {},
            costs=costs if costs is not None else "nothing" if severity == "ok" else "part",
        )


def _one_line(text: str) -> str:
    """Values may hold line ends; a finding is one line."""
    return " ".join(text.split())


def _exported(exports: dict[str, str | None]) -> str:
    return "; ".join(
        f"unset {name}" if value is None else f"{name}={value}" for name, value in exports.items()
    )
