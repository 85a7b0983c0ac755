"""What one of the site's commands answers, before anything is gathered."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence

from rankandfile.capture.collect.reasons import reason

_SECONDS = 60.0


class NoAnswer(Exception):
    """Its text is one line for the person."""


def ask(command: Sequence[str]) -> str:
    """What it prints. Raises `NoAnswer`."""
    told = shlex.join(command)
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{told}: no answer in {_SECONDS:.0f} s") from None
    except OSError as error:
        raise NoAnswer(f"{command[0]}: {error.strerror or error}") from error
    if done.returncode:
        raise NoAnswer(f"{told}: {reason(done.stderr.decode('utf-8', 'replace'), done.returncode)}")
    return done.stdout.decode("utf-8", "replace")
