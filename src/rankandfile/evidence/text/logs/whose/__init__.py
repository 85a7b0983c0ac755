"""Whose rank each line of a log is, by all that the logs of a job tell together."""
