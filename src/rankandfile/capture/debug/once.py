"""One answer for torch's own debug server: settings on the standard input, text on the standard output."""

from __future__ import annotations

import sys

from rankandfile.capture.debug import dumps
from rankandfile.capture.debug.job import ranks
from rankandfile.capture.debug.settings import read
from rankandfile.capture.debug.verdict import judge


def main() -> None:
    settings = read(sys.stdin.read())
    text = judge(settings).text if sys.argv[1:] == ["verdict"] else dumps.fr_trace(ranks(settings))
    sys.stdout.buffer.write(text.rstrip().encode() + b"\n")
