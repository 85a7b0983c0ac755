"""Settings and launch files to examine."""
