"""Remedies as patches: the pattern that mends a problem, applied at its place."""

from __future__ import annotations

from .advise import advise
from .edit import LibCSTMissing
from .patch import Patch, Refusal
from .problem import Problem, Site
from .registry import patched, patches

__all__ = ["LibCSTMissing", "Patch", "Problem", "Refusal", "Site", "advise", "patched", "patches"]
