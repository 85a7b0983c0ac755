"""What Python's faulthandler writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

EXAMPLES = [
    Example("P8", "fatal_python_error", "Fatal Python error: Aborted", {"error": "Aborted"}),
    Example("P8", "thread_stack", 'Thread 0x00007f9f12345678 (most recent call first):\n  File "loop.py", line 6 in wait_all\n  File "train.py", line 9 in <module>\n', {"thread": "00007f9f12345678"}),
    Example("P8", "thread_stack", 'Thread 4711 (active+gil): "MainThread"\n    step (fit.py:3)\n', {}),
    Example("P8", "thread_stack", 'Current thread 0x00007f9f12345678 (most recent call first):\n  File "loop.py", line 6 in wait_all\n', {"thread": "00007f9f12345678"}),
    Example("P8", "thread_stack", '\tThread 1 (Thread 0x200000044f60 (LWP 34684)):\n\t#0  0x00002 in poll ()\n', {}),
    Example("P8", "thread_stack", "STACK TRACE FOR PROC [[4271,1],0] (cn07, PID 34684)", {}),
    Example("P8", "faulthandler_timer", "Timeout (0:05:00)!", {"after": "0:05:00"}),
]  # fmt: skip


class TestFaulthandler(ShapeTests):
    examples = EXAMPLES
