"""Probes: the few instruments that confirm a verdict, each at the branching point."""

from __future__ import annotations

from .registry import PROBES, probes

__all__ = ["PROBES", "probes"]
