"""Outside the training processes: the launcher that watches a job, and what it collects when the job stops."""
