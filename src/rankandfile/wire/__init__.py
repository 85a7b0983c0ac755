"""The format of a recorder's ring: shared by who writes it inside a job and who reads it. Standard library only."""
