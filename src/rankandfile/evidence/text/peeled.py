"""A line without what stood before it, and what that said."""

from __future__ import annotations

from dataclasses import dataclass, field

from rankandfile.evidence.text.stamps import Stamp


@dataclass(slots=True)
class Peeled:
    """A line's own text, and what its prefixes said. The innermost prefix wins: it is the writer's own."""

    body: str = ""
    rank: int | None = None
    rank_from: str | None = None
    local_rank: int | None = None
    task: int | None = None
    """The task of ``srun --label`` or ``mpirun``: the global rank only where a task is a rank."""
    host: str | None = None
    pid: int | None = None
    thread: int | None = None
    device: int | None = None
    """CUDA device in NCCL's lines; not a rank."""
    time: Stamp | None = None
    severity: str | None = None
    source: str | None = None
    """The source file in the writer, such as ProcessGroupNCCL.cpp."""
    partial: bool = False
    """The container runtime cut this line; it goes on in the next one."""
    nccl: bool = False
    kernel: bool = False
    layers: list[str] = field(default_factory=list)

    def at(self, time: Stamp | None) -> None:
        """A second time does not replace a better one: a carrier's full date beats a bare time of day."""
        if time is not None and (self.time is None or _WORTH[time.quality] >= _WORTH[self.time.quality]):
            self.time = time


_WORTH = {"boot": 0, "no_date": 1, "no_year": 2, "wall": 3, "zoned": 3}
