"""The watchers of a job's nodes among themselves, so that one of them gives one verdict for all."""
