"""Control: decisions that affect which collectives run, made once and kept by all ranks. See docs/control.md."""

from __future__ import annotations

from rankandfile.runtime.plan.errors import OutOfPlan
from rankandfile.runtime.plan.plan import Plan

__all__ = ["OutOfPlan", "Plan"]
