"""The tools of an investigation, one a module: read-only, bounded, each line with its evidence."""
