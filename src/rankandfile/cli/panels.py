"""The headings of `raf --help`, in their order. A command says its own with `PANEL`; who says nothing is advanced."""

from __future__ import annotations

DIAGNOSE = "Diagnose"
LIVE = "Live"
FIX = "Fix and prevent"
SHARE = "Share"
ADVANCED = "Advanced"
PANELS = [DIAGNOSE, LIVE, FIX, SHARE, ADVANCED]
