"""What a line of a log is worth, by the role of its writer in what it tells. No table is needed to know it."""

from __future__ import annotations

#: The roles of an event, the one that tells most of its writer first.
WORTH_OF_ROLE = {"origin": 0, "messenger": 1, "fact": 2, "echo": 3}

#: Kinds of lines that only warn of a wait: it is over where the same log shows work behind them.
WARNINGS = ("vllm_no_block", "horovod_stalled", "xla_rendezvous", "xla_leader_stuck", "no_step")
