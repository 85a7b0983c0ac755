"""One check per file: a subject in, findings out. A new check is a new file here and its name in this list."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rankandfile.doctor.subject import Subject
from rankandfile.model.settings import Finding

from . import (
    beliefs,
    contents,
    cure_alls,
    deadlines,
    dump,
    dump_path,
    names,
    nccl_logs,
    pipe,
    python_stacks,
    recorder,
    teardown,
    timeouts,
    values,
)

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    recorder.check,
    dump.check,
    dump_path.check,
    contents.check,
    deadlines.check,
    teardown.check,
    timeouts.check,
    names.check,
    values.check,
    cure_alls.check,
    python_stacks.check,
    nccl_logs.check,
    pipe.check,
    beliefs.check,
)
