"""The fix patterns, one a file; each defines `PATTERN`."""
