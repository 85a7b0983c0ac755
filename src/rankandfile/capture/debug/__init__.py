"""The debug page of a running job: a process beside the ranks of one node, so that it answers while they hang."""
