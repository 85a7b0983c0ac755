"""The process that answers one question of an editor: JSON on stdin, and an answer a line on stdout.

It is a process of its own so that it can be ended when somebody types on, and so that typing never waits for it.
"""

from __future__ import annotations

import contextlib
import os
import sys

import msgspec

from rankandfile.cli.errors import UserError
from rankandfile.editor.asking import Question, answers

from .options import lint_options


def main() -> int:
    """Status 2 where the project's settings say something else than they may: the line on stderr tells what."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    question = msgspec.json.decode(sys.stdin.buffer.read(), type=Question)
    os.chdir(question.folder)
    try:
        options = lint_options(hints=question.hints)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for answer in answers(question, options):
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
    return 0
