"""The fix patterns, one a file with its `PATTERN`; by `ORDER` they are tried, the particular ones first."""
