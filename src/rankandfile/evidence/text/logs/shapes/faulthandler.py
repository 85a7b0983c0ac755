"""Where faulthandler's, py-spy's and pystack's stacks stand in a log. Frames are read by the stack decoder."""

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

ORDER = 150

SHAPES = (
    Shape("fatal_python_error", "P8", "fact", "Fatal Python error", r"Fatal Python error: (?P<error>.*)"),
    Shape(
        "faulthandler_timer", "P8", "fact", "Timeout (",
        r"^Timeout \((?P<after>\d+:\d\d:\d\d(?:\.\d+)?)\)!",
    ),
    Shape(
        "thread_stack", "P8", "fact", ("(most recent call first)", "most recent call first"),
        r"(?:Current thread|Thread) 0x(?P<thread>[0-9a-f]+).{0,100}?\(most recent call first\)",
    ),
    Shape(
        "thread_stack", "P8", "fact", '): "MainThread"',
        r'^Thread (?:0x)?[0-9A-Fa-f]+ \((?:idle|active|active\+gil)\): "MainThread"',
    ),
    Shape("thread_stack", "P8", "fact", " (Thread 0x", r"^\s*Thread [\d.]+ \(Thread 0x[0-9a-f]+ \(LWP \d+\)"),
    Shape("thread_stack", "P8", "fact", "STACK TRACE FOR PROC ", r"^STACK TRACE FOR PROC \["),
    Shape("thread_stack", "P8", "fact", "Traceback for thread ", r"Traceback for thread (?P<thread>\d+) "),
)  # fmt: skip
