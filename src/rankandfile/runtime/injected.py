"""What `raf run` does inside a rank: start the recorder, and let itself be looked at, just before the first group."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from pathlib import Path
from typing import Any

from rankandfile.recorder_names import ENTRIES, KEEPS_BY_ITSELF, OLD_RING, RING, RING_SINCE
from rankandfile.runtime import answering, own_streams

#: Position of the rank among the arguments of `init_process_group`.
_RANK_AT = 4


def before_first_group(c10d: Any) -> None:
    """Let the first `init_process_group` of this process start the recorder; later ones are torch's own."""
    init = c10d.init_process_group

    @functools.wraps(init)
    def init_process_group(*arguments: Any, **named: Any) -> Any:
        if c10d.init_process_group is init_process_group:
            c10d.init_process_group = init
            dist: Any = sys.modules.get("torch.distributed")
            if getattr(dist, "init_process_group", None) is init_process_group:
                dist.init_process_group = init
            begin(_rank(arguments, named))
        return init(*arguments, **named)

    c10d.init_process_group = init_process_group


def _rank(arguments: tuple[Any, ...], named: dict[str, Any]) -> int | None:
    """What the first group is told; None where it finds out itself."""
    rank = named.get("rank", arguments[_RANK_AT] if len(arguments) > _RANK_AT else None)
    return rank if isinstance(rank, int) and rank >= 0 else None


def begin(rank: int | None) -> None:
    """Raises nothing. `rank`: where it is known, and not only in the environment."""
    own_streams.take(os.environ, rank)
    for prepare in (_allow_stacks, _settings_of_this_torch, _let_itself_be_asked):
        with contextlib.suppress(Exception):
            prepare()
    try:
        from rankandfile.runtime.recorder.start import start

        start()
    except Exception as error:
        sys.stderr.write(f"raf: not recording: {type(error).__name__}: {error}\n")
    if os.environ.get("RAF_PLAN") == "enforce":
        _enforce_a_plan()


def _enforce_a_plan() -> None:
    try:
        from rankandfile.runtime.plan.start import start

        start()
    except Exception as error:
        sys.stderr.write(f"raf: no plan: {type(error).__name__}: {error}\n")


def _allow_stacks() -> None:
    """For `raf run` and what it starts: it is an ancestor itself, but py-spy is not."""
    watcher = os.environ.get("RAF_RUN", "")
    if watcher.isdigit():
        answering.let_look(int(watcher))


def _let_itself_be_asked() -> None:
    if folder := os.environ.get("RAF_RING_DIR"):
        answering.answer(Path(folder))


def _settings_of_this_torch() -> None:
    """Have torch's own recorder keep calls; the variable's name depends on the release."""
    import torch

    release = tuple(int(part) for part in torch.__version__.split(".")[:2])
    named = RING in os.environ or OLD_RING in os.environ
    if release < KEEPS_BY_ITSELF and not named:
        os.environ[RING if release >= RING_SINCE else OLD_RING] = ENTRIES
