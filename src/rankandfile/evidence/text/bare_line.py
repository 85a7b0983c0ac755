"""A line without what stood before it, and what that said."""

from __future__ import annotations

from msgspec import Struct, field

from rankandfile.evidence.text.stamps import Stamp


class BareLine(Struct):
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
    carrier: str = ""
    """Whose output it is, by the carriers' prefixes: times and severities are no part of it."""
    line: str = ""
    start: int = 0
    """Where in the line the body begins."""

    @property
    def key(self) -> str:
        """Lines of one writer have one key: interleaved stacks are told apart by it."""
        if self.rank_from != "prefix" or "c10" in self.layers:
            # Only the first line of a C++ message has its prefix: those after it belong to the bare writer.
            return self.carrier
        return f"{self.carrier}[rank{self.rank}]"

    @property
    def indented(self) -> str:
        """The body with its indentation: prefixes take one space only."""
        if not self.start:
            return self.line
        end = len(self.line[: self.start].rstrip(" "))
        return self.line[end + (self.line[end : end + 1] == " ") :]

    def at(self, time: Stamp | None) -> None:
        """A second time does not replace a better one: a carrier's full date beats a bare time of day."""
        if time is not None and (self.time is None or _WORTH[time.quality] >= _WORTH[self.time.quality]):
            self.time = time


_WORTH = {"boot": 0, "no_date": 1, "no_year": 2, "wall": 3, "zoned": 3}
