"""Where a quiet process stood, and what it raised, as a ring tells (`ring.pulses`): to the document and back."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.evidence.flight.interning import MAX_FRAMES, text
from rankandfile.evidence.raw import Frame, Repeats, pack, unpack_repeats
from rankandfile.evidence.text.stacks.raw import RAISED, RawProcess, RawStacks, RawThread

from .form import Stood

#: A ring has two moments and an exception.
_MOST = 16


def stood(stacks: RawStacks) -> list[Stood]:
    repeats = unpack_repeats(stacks.repeats)
    found = []
    for thread in stacks.threads:
        process = stacks.processes[thread.process]
        frames = () if thread.stack is None else repeats.stacks[thread.stack]
        found.append(
            Stood(
                frames=[repeats.frames[frame] for frame in frames],
                line=thread.line,
                rank=process.rank,
                rank_from=process.rank_from,
                host=process.host,
                pid=process.pid,
                parent=process.parent,
                at_ns=process.at_ns,
                name=thread.name,
                raised=thread.error if thread.shows == RAISED else None,
            )
        )
    return found


def stacks_of(few: Sequence[Stood]) -> RawStacks | None:
    stacks, repeats = RawStacks(formats=["ring"]), Repeats()
    for one in few[:_MOST]:
        frames = [Frame(text(f.function), text(f.file), f.line) for f in one.frames[:MAX_FRAMES]]
        numbers = range(len(repeats.frames), len(repeats.frames) + len(frames))
        repeats.frames += frames
        process = RawProcess(one.rank, text(one.rank_from), one.host, one.pid, one.parent, one.at_ns)
        thread = RawThread(one.line, len(stacks.processes), len(repeats.stacks), name=one.name, role="main")
        if one.raised is not None:
            thread.shows, thread.error = RAISED, one.raised
        repeats.stacks.append(tuple(numbers))
        stacks.processes.append(process)
        stacks.threads.append(thread)
    stacks.repeats = pack(repeats)
    return stacks if stacks.threads else None
