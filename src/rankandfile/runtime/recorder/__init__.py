"""The black box: every collective, send and receive of this process, in a file that outlives it."""
