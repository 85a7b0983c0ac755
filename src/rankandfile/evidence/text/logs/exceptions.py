"""What the tracebacks of a log say: what was raised, where, and whether it began there."""

from __future__ import annotations

import re

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event, clean, integer
from rankandfile.evidence.text.logs.speakers import speaker

_FRAME = re.compile(r'^\s+File "(.{1,1000})", line (\d{1,9}), in (.{1,200})$')
_RAISED = re.compile(r"^([A-Za-z_][\w.]{0,200})(?:: ?(.*))?$")
_CHAINED = re.compile(r"^(?:The above exception was the direct cause|During handling of the above exception)")
_THREAD = re.compile(r"^(?:Exception in thread (.{1,100}?):?|Process (\S{1,100}):)$")

#: Ray's suffix where it has taken out the same line of other ranks.
_REPEATED = re.compile(r" \[repeated \d{1,9}x across cluster\].*$")

#: Who caught it says so, and ends the process: a server's outermost function.
_LAST_WORDS = re.compile(
    r"(?i)hit an exception|fatal error|unhandled exception|uncaught exception|crashed|failed to start"
)

FRAMES = 100
#: What lies further out only led there.
_INNERMOST = 3

#: Exceptions by which a process learns that others ended, or that nobody came: they began elsewhere.
_ECHOES = re.compile(
    r"(?:^|\.)(?:Dist(?:Backend|Network|Store)?Error|ChildFailedError|SignalException|Rendezvous\w*Error"
    r"|ProcessRaisedException|ProcessExitedException|EngineDeadError|\w*Actor\w*Error|WorkerGroupError|HorovodInternalError|ConnectionResetError|BrokenPipeError|ConnectionRefusedError)$"
)
_ECHOED = re.compile(
    r"tasks are unhealthy|another task (?:died|reported)|EngineCore (?:encountered|failed)|Horovod has been shut down"
    r"|The actor died unexpectedly|A worker group error occurred|Engine core initialization failed"
    r"|CCL (?:error|communicator)|CCL_ERROR_(?:REMOTE|SYSTEM)_ERROR|remote process exited or there was a network error"
    r"|(?:nccl|rccl)(?:Remote|System)Error|Watchdog caught|Connection closed by peer|Connection reset by peer"
    r"|Broken pipe"
    r"|gloo/transport|pair\.cc|unbound_buffer|is setting up \w+ communicator|Socket Timeout|wait timeout after"
    r"|client socket has timed out|DataLoader worker .* is killed by signal: Terminated"
)
_MESSAGES = re.compile(
    r"Detected mismatch between collectives|monitoredBarrier|[Tt]imed out waiting|timed out after|Barrier timed out"
    r"|RPC call to \w+ timed out"
)
#: Somebody pressed Ctrl-C, or a launcher passed it on: it comes from outside, wherever the process stood.
_INTERRUPTS = ("KeyboardInterrupt",)
#: A limit that ran out. Whose fault that was depends on what was waited for.
_RAN_OUT = re.compile(r"(?i)time[ds]?[ _-]?out|deadline[ _]?exceeded")
#: Frames, and lines of source, in which ranks wait for each other.
_FOR_OTHERS = re.compile(
    r"(?i)(?:^|[^a-z])(?:\w*barrier\w*|(?:i?all_?)(?:reduce|gather|to_?all)\w*|reduce_?scatter\w*|broadcast\w*|gather_object"
    r"|scatter_object\w*|sync_global\w*|rendezvous\w*|wait_at_\w+|collective_rpc|(?:dist|comm|pg|group)\w*\.i?recv|_store\w*|store\.(?:get|wait)"
    r"|process_allgather|init_process_group|new_group|wait_for_(?:workers|peers|ranks|everyone))\s*(?:\(|$)"
)


def read(event: Event, context: Context) -> None:
    """Frames, exception and rank of importance of the traceback that begins on this line."""
    told = context.before_match.strip()
    writer = event.writer
    frames: list[list[object]] = []
    source = ""
    raised = None
    lines = context.following()
    for offset, bare in lines:
        # A carrier's prefix may have taken the indentation with it.
        body = bare.body if bare.body[:1].isspace() else bare.indented
        if body[:1].isspace():
            # Source code quoted in a traceback says nothing: it may well name every error there is.
            context.consumed.add(offset)
        if match := _FRAME.match(body):
            frames.append([clean(match[3], 200), clean(match[1], 400), integer(match[2])])
        elif frames and body[:1].isspace() and body.strip(" ^~"):
            source = body.strip()
        elif body[:1].strip() and not body.startswith("Traceback (most"):
            raised = _RAISED.match(_REPEATED.sub("", body))
            break
    _logged(event, context)
    event.fields["frames"] = frames[-FRAMES:][::-1]
    if raised is not None:
        event.fields["exception"] = clean(raised[1], 200)
        event.fields["message"] = clean(raised[2] or "", 400)
        event.text = clean(raised[0])
        event.role = weigh(raised[1], raised[2] or "")
        asked = [source, *(str(frame[0]) for frame in frames[-_INNERMOST:])]
        if _RAN_OUT.search(raised[0]) and any(_FOR_OTHERS.search(one) for one in asked):
            event.role = "messenger"
        if _waited_for_a_device(context, raised[2] or ""):
            event.role = "messenger"
    if raised is None and not frames:
        # Cut off right here: what was raised, and by whom, nothing tells.
        event.role = "fact"
    if told.startswith("traceback"):
        event.role = "echo"
    if _LAST_WORDS.search(told):
        event.fields["fatal"] = True
    if told == "Original":
        event.fields["original"] = True
    if writer in context.chained:
        context.chained.discard(writer)
        event.fields["chained"] = True
        event.role = "echo"
    _thread(event, context)
    for count, (_, bare) in enumerate(lines):
        if _CHAINED.match(bare.body):
            context.chained.add(writer)
        if count >= 3 or bare.body.startswith("Traceback (most"):
            break


#: Below an exception of an Ascend device its own words: this one waited for a notification of another.
_HCCL_WAITED = re.compile(r"EI0002:|Notify (?:register|record)|EI0006:")
_HCCL_BEGAN = re.compile(r"ACL stream|[Nn]pu\w*|NPU|aclrt|HCCL")
#: Codes of the runtime that are of the device itself: exceptions and timeouts of its cores, and its memory.
_OF_ITS_DEVICE = re.compile(r"error code(?: is|:) ?5070(?:1[0-9]|34|5[0-9])\b")
_ELSE = re.compile(r"Traceback \(most recent|^\[W |Warning: NPU warning|ECC|MEM ERROR")
_BELOW = 12


def _waited_for_a_device(context: Context, message: str) -> bool:
    if not _HCCL_BEGAN.search(message) or _OF_ITS_DEVICE.search(message):
        return False
    below = [bare.body for _, bare in context.following(_BELOW * 8)]
    start = next((number for number, body in enumerate(below) if message[:80] in body), len(below))
    block = below[start : start + _BELOW]
    end = next((number for number, body in enumerate(block) if number and _ELSE.search(body)), len(block))
    return any(_HCCL_WAITED.search(body) for body in block[:end])


def weigh(exception: str, message: str) -> str:
    """origin: the program's own failure. echo: others ended first. messenger: it waited, or compared. fact: nobody's
    failure."""
    if exception in _INTERRUPTS:
        return "fact"
    if _MESSAGES.search(message) and not exception.endswith("ValueError"):
        return "messenger"
    if _ECHOES.search(exception) or _ECHOED.search(message):
        return "echo"
    return "origin"


#: What whoever logs an exception says of it, in the line above its traceback.
_OF_AN_EXCEPTION = re.compile(
    r"(?i)\b(?:error|critical|fatal|warn(?:ing)?|exception|failed|failure|crash\w*|traceback)\b"
)
_WORKER = re.compile(r"(?<![\w.-])(?:worker|proc|process|trainer)[\[ =#-](\d{1,5})\]?(?![\w.%])")
_BEGINNING = 64


def _logged(event: Event, context: Context) -> None:
    """`logging` writes a traceback below the line that tells of it: who says that line has raised it, or caught it."""
    above = next(context.preceding(1), None)
    if event.rank is not None or above is None or not _OF_AN_EXCEPTION.search(above.body):
        return
    rank = above.rank if above.rank is not None else speaker(above.body)
    if rank is not None:
        event.rank, event.rank_from = rank, "app"
    elif match := _WORKER.search(above.body[:_BEGINNING]):
        event.fields["logged_by"] = int(match[1])
    if _LAST_WORDS.search(above.body):
        event.fields["fatal"] = True


def _thread(event: Event, context: Context) -> None:
    for bare in context.preceding(1):
        if match := _THREAD.match(bare.body.strip()):
            event.fields["thread"] = clean(match[1] or match[2], 100)
