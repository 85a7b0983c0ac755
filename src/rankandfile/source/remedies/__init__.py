"""Remedies as patches: the pattern that mends a problem, applied at its place."""

from __future__ import annotations

from .advise import advise
from .choose import patched, patches
from .patch import Patch, Refusal
from .problem import Problem, Site

__all__ = ["Patch", "Problem", "Refusal", "Site", "advise", "patched", "patches"]
