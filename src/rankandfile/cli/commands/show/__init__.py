"""Look at a case by hand: calls, groups, progress, cohorts, waits, divergence, stacks, timeline, evidence, source,
ring."""

ORDER = 80
