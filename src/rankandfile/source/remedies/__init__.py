"""Remedies as patches: the pattern that mends a problem, applied at its place."""

from __future__ import annotations

from .advise import advise
from .choose import patched, patches
from .edit import LibCSTMissing
from .patch import Patch, Refusal
from .problem import Problem, Site

__all__ = ["LibCSTMissing", "Patch", "Problem", "Refusal", "Site", "advise", "patched", "patches"]
