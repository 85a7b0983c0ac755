"""Does a change hold? The person's command passes with it, in a copy of the source, and fails without it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from rankandfile.source.remedies import Patch
from rankandfile.source.remedies.restore import NotTheSame, patched_bytes

from .bench import Bench
from .diff import Misfit, changed
from .scratch import TooLarge, copied, write
from .trial import Trial, tried

What = Literal["fix", "probe", "model"]
#: With which a probe ends a rank.
_SAID = re.compile(r"[\w.]*(?:Error|Disagreement): (.*(?:the ranks differ|nobody sends).*)")


class CannotProve(ValueError):
    """There is nothing to try, or nowhere to try it; the text says why."""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    what: What
    title: str
    diff: str
    command: str
    proved: bool
    words: str
    with_it: Trial
    without_it: Trial | None = None
    """Not run where it does not hold anyway."""


def prove(
    bench: Bench,
    what: What,
    model_fix: str | None,
    command: str,
    logs: Path,
    timeout: float,
    say: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Raises `CannotProve`."""
    title, diff = _change(bench, what, model_fix)
    if len(bench.folders) != 1 or bench.revision is not None:
        raise CannotProve("to prove a change, name one folder with --src, and no --git")
    tree = bench.folders[0]
    try:
        files = _files(bench, diff, tree)
        say(f"with the {what}: {command}")
        with_it = _in_copy(tree, files, command, logs / "prove-with.log", timeout)
        held, words = _judged(what, with_it)
        without_it = None
        if held and what != "probe":
            say(f"without it: {command}")
            without_it = _in_copy(tree, {}, command, logs / "prove-without.log", timeout)
            if without_it.passed:
                held, words = False, "it passes with the change, and without it too: this shows nothing"
            else:
                words = f"it passes with the change; without it, it {without_it}"
    except (Misfit, NotTheSame, TooLarge, UnicodeEncodeError, OSError) as error:
        raise CannotProve(f"the {what} cannot be tried: {error}") from error
    return Proof(
        what=what, title=title, diff=diff, command=command, proved=held, words=words, with_it=with_it,
        without_it=without_it,
    )  # fmt: skip


def _change(bench: Bench, what: What, model_fix: str | None) -> tuple[str, str]:
    if what == "model":
        if model_fix is None:
            raise CannotProve("the model has proposed no fix that fits the source")
        return "the fix that the model proposes", model_fix
    for verdict in bench.diagnosis.verdicts:
        for one in verdict.probes if what == "probe" else verdict.remedies:
            if one.diff:
                return one.title, one.diff
    raise CannotProve(f"the rules know no {what} for this that a machine should make")


def _files(bench: Bench, diff: str, tree: Path) -> dict[str, bytes]:
    """Path -> the file with the change, in its own encoding and with its own line ends."""
    found: dict[str, bytes] = {}
    for path, after in changed(bench, diff).items():
        before = bench.tree.read(path) if bench.tree is not None else None
        patch = Patch("", "", "", path, before or "", after)
        found[path] = patched_bytes(patch, (tree / path).read_bytes())
    return found


def _in_copy(tree: Path, files: dict[str, bytes], command: str, log: Path, timeout: float) -> Trial:
    with copied(tree) as copy:
        for path, data in files.items():
            write(copy, path, data)
        return tried(command, copy, tree, log, timeout)


def _judged(what: What, trial: Trial) -> tuple[bool, str]:
    if what != "probe":
        return trial.passed, f"with the change, it {trial}"
    said = _SAID.search(Path(trial.log).read_text(encoding="utf-8", errors="replace"))
    if said is None:
        return False, f"it {trial}, and the probe said nothing"
    return not trial.passed, f"the probe ended it: {said[1][:300]}"
