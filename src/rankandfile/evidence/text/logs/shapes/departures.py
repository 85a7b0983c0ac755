"""What a program says of itself as it leaves the way of the others: out of data, done early, told to stop.

All of it is ordinary where every rank says it. What one rank alone says just before the others wait for it, tells why.
"""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

#: Before what Python says of its own numbers; whatever has a shape of its own knows better.
ORDER = (1 << 30) - 1

_DATA = r"(?:data\w*|loader|iterator|generator|batch\w*|samples?|shards?|records?|stream|inputs?|examples?|sequences?|files?|tfrecords?|queue|split|partition)"

SHAPES = (
    Shape(
        "said_no_data", "P1", "fact",
        ("exhausted", "ran out of", "run out of", "End of sequence", "end of sequence", "no more data", "no more batch",
         "No more data", "No more batch", "no more sample", "no more record", "out of data", "StopIteration",
         "corrupted record", "is truncated", "end of data", "end of epoch", "is empty", "yielded no", "fewer batch",
         "fewer sample", "less batch", "out of batches", "out of samples", "no batches left", "no samples left",
         "nothing left"),
        rf"(?i)(?P<what>\b{_DATA}\b.{{0,60}}?\b(?:exhausted|r[au]n out|ended|is (?:truncated|empty)|at (?:its|the) end|yielded no\w*)\b"
        rf"|\b(?:exhausted|r[au]n out of|out of|no more|end of|fewer|less|yielded no|no|nothing) {_DATA}\b(?: left\b)?|\bStopIteration\b(?!Error)"
        r"|\bcorrupted record\b)",
    ),
    Shape(
        "said_leaving", "P1", "fact",
        ("leaving", "Leaving", "stop training", "stopping", "Stopping", "stopped early", "early stop", "Early stop",
         "Early Stop", "EarlyStop", "will stop", "breaking out", "break out of", "exit the loop", "exiting", "Exiting",
         " SIGUSR", "=SIGUSR", "SIGTERM", " SIGINT", " SIGHUP", "signal received", "received signal", "Received signal", "got signal",
         "caught signal", "preempt", "Preempt", "finished training", "training finished", "Training finished", "raining done", "raining complete", "raining is done",
         "ends training", "ending training", "quitting", "giving up on", "left the loop", "out of the loop",
         "patience exhausted", "converged", "time limit", "time budget", "walltime", "max_time", "max_steps reached",
         "target reached", "bailing out", "aborting epoch", "ending epoch", "interrupted"),
        r"(?i)(?P<what>\b(?:leav(?:e|es|ing)|left|exit(?:s|ing)?|br(?:eak|eaking|oke)(?: out)?|quit(?:s|ting)?|bail(?:s|ing) out|out)\b(?: of)?.{0,24}?\b(?:loop|iteration|epoch|training|train|solver?|step|early|run|sweep)\b"
        r"|\b(?:stop(?:s|ping|ped)?|end(?:s|ing)|abort(?:s|ing))\b.{0,16}?\b(?:training|early|epoch|loop|run|iteration|fit)\b|\bearly[ _-]?stop\w*"
        r"|\b(?:training|run|fit) (?:is )?(?:finished|stopped|ended|done|over|completed?)\b|\bfinished training\b|\bpatience\b.{0,24}?\bexhausted\b"
        r"|\b(?:got|caught|received?|receiving)\b.{0,16}?\b(?:signal|SIG(?:USR[12]|TERM|INT|HUP))\b|\bsignal\b.{0,12}?\b(?:received|caught)\b"
        r"|\bSIG(?:USR[12]|TERM|INT|HUP)\b.{0,40}?\b(?:received|caught|sav\w+|stop\w*|exit\w*|leav\w*|checkpoint\w*)\b"
        r"|\bpreempt\w*\b.{0,40}?\b(?:notice|request\w*|received|sav\w+|stop\w*|exit\w*|leav\w*|checkpoint\w*)\b"
        r"|\b(?:time (?:limit|budget)|walltime|max_time|max_steps|target)\b.{0,24}?\b(?:reached|exceeded|over|hit|used up)\b)",
    ),
    Shape(
        "said_waiting", "P1", "fact",
        ("waiting at", "waiting for", "waiting in", "waiting on ", "still waiting", "have waited", "has waited"),
        r"(?P<what>\b(?:[Ss]till )?[Ww]ait(?:ing|ed)\b (?:at|in|for|on)\b[^()\d]{0,80})(?:.{0,24}?\b(?P<waited_s>\d+)(?:\.\d+)? ?s(?:ec\w*)?\b)?",
    ),
)  # fmt: skip
