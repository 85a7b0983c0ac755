"""What expressions of the source can be on one rank: conditions on rank, world size, mesh, environment, evaluated."""

from .arithmetic import Values
from .job import Job
from .values import OneRank

__all__ = ["Job", "OneRank", "Values"]
