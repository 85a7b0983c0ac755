"""Jobs to watch."""
