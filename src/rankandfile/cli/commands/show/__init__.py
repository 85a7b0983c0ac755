"""Look at a case by hand: calls, groups, progress, cohorts, waits, stacks, timeline, evidence, source, ring."""

from rankandfile.cli.panels import DIAGNOSE

PANEL = DIAGNOSE
ORDER = 80
