"""How `raf run` starts a job: its environment, where its ranks record, its output and its signals."""
