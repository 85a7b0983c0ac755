"""What each row of the table of calls is: its column `kind`."""

from __future__ import annotations

COLLECTIVE, TRANSFER, MEMBER, BATCH = 0, 1, 2, 3
"""A collective; a send or receive of its own; a member of a batch; a batch of sends and receives."""
