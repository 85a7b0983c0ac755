"""The tower: a small service that takes in what sentinels tell of running jobs, keeps a short history, and shows it."""
