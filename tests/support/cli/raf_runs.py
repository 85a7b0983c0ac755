"""Running `raf` as a person would, in the process of the test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from rankandfile.cli.main import main


class Done(NamedTuple):
    status: int
    out: str
    err: str


Raf = Callable[..., Done]


def in_process(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Raf:
    """Arguments in, status and both streams out."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["raf", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as exit:
            status = exit.code if isinstance(exit.code, int) else 1
        streams = capfd.readouterr()
        return Done(status, streams.out, streams.err)

    return run
