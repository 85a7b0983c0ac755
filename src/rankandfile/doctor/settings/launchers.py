"""What the words of one launch command say: variables passed on, variables held back, timeouts, releases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .plain import NAME
from .shell_scan import Word

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)\Z", re.DOTALL)

SLURM = {"srun", "sbatch", "salloc"}
CONTAINERS = {"docker", "podman", "nerdctl"}
STARTERS = {
    "torchrun",
    "accelerate",
    "deepspeed",
    "python",
    "python3",
    "mpirun",
    "mpiexec",
    "lightning",
} | SLURM

#: command -> the options whose value is NAME=VALUE for the job's environment.
_PASSING = {
    **dict.fromkeys(CONTAINERS, ("-e", "--env")),
    **dict.fromkeys(("apptainer", "singularity"), ("--env",)),
    **dict.fromkeys(("mpirun", "mpiexec", "orterun"), ("-x",)),
}

#: Options of trainers that set the timeout of collectives, and the seconds in their unit.
_TIMEOUTS = {"ddp_timeout": 1, "distributed_timeout_minutes": 60, "distributed_timeout_seconds": 1}

_ENV_WITH_VALUE = {"-u", "--unset", "-C", "--chdir", "-S"}
_SHELLS = {"bash", "sh", "zsh", "dash"}
_PINNED = re.compile(r"\btorch==(\d+\.\d+(?:\.\d+)?)")
_IMAGE = re.compile(r"(?:\bpytorch/pytorch:|[\w./-]{1,200}:[\w.-]{0,100}?torch[-_]?v?)(\d+\.\d+(?:\.\d+)?)")
#: Images that bring a torch of their own under numbers of their own: what is pinned elsewhere is not of them.
_OWN_NUMBERS = re.compile(r"\bnvcr\.io/nvidia/(?:pytorch|nemo)\b[\w.@:-]*")


class Gate(NamedTuple):
    """A launcher that passes on only some of the environment."""

    allowed: frozenset[str]
    reason: str


def called(word: str) -> str:
    """The command that a word names: its last part."""
    return word.rsplit("/", 1)[-1]


def starts_the_job(words: Sequence[Word]) -> bool:
    return any(called(word.text) in STARTERS | CONTAINERS for word in words)


def passed(words: Sequence[Word]) -> Iterator[tuple[str, str, int]]:
    """NAME, value and line of every assignment among a command's arguments."""
    for text, line in (*_handed_on(words), *_export_items(words)):
        if assignment := ASSIGNMENT.match(text):
            yield assignment[1], assignment[3], line


def _handed_on(words: Sequence[Word]) -> Iterator[tuple[str, int]]:
    """What `env` and the options of launchers hand on: text that may be an assignment, and its line."""
    # An array of options, kept for a launcher further down, begins with one.
    options = set(_PASSING["docker"]) if words and words[0].text.startswith("-") else set()
    after_env = skip = False
    for word, following in _with_next(words):
        name = called(word.text)
        if name == "env":
            after_env = True
        elif skip:
            skip = False
        elif after_env and word.text.startswith("-"):
            skip = word.text in _ENV_WITH_VALUE
        elif after_env:
            yield word.text, word.line
            after_env = ASSIGNMENT.match(word.text) is not None
        options.update(_PASSING.get(name, ()))
        option, equals, value = word.text.partition("=")
        if option in options:
            yield (value if equals and option.startswith("--") else following or ""), word.line


def _export_items(words: Sequence[Word]) -> Iterator[tuple[str, int]]:
    """The items of Slurm's ``--export``."""
    if not any(called(word.text) in SLURM for word in words):
        return
    for word, following in _with_next(words):
        option, equals, value = word.text.partition("=")
        if option == "--export" and (equals or following is not None):
            yield from ((item, word.line) for item in (value if equals else following or "").split(","))


def _with_next(words: Sequence[Word]) -> Iterator[tuple[Word, str | None]]:
    """Each word, and the text of the one after it."""
    return zip(words, [*(word.text for word in words[1:]), None], strict=True)


def gate(words: Sequence[Word]) -> Gate | None:
    """What this launcher holds back, if it does."""
    exported = [item for item, _ in _export_items(words)]
    if exported and not {"ALL", "all"} & set(exported):
        allowed = frozenset(item.partition("=")[0] for item in exported) - {"NONE"}
        return Gate(allowed, f"{called(words[0].text)} --export without ALL does not pass it on")
    names = [called(word.text) for word in words]
    if names and names[0] in CONTAINERS and "run" in names[1:3] and "--env-file" not in " ".join(names):
        given = {name for name, _, _ in passed(words)} | _bare(words)
        return Gate(frozenset(given), f"{names[0]} run passes on only what -e names")
    return None


def _bare(words: Sequence[Word]) -> set[str]:
    """Names given as ``-e NAME``: passed on as they are."""
    return {
        following.text
        for word, following in pairwise(words)
        if word.text in ("-e", "--env") and NAME.match(following.text)
    }


def script_of(words: Sequence[Word]) -> Word | None:
    """The script in ``bash -c SCRIPT``, behind whatever launcher."""
    for index, word in enumerate(words):
        if called(word.text) in _SHELLS:
            for option, following in zip(words[index + 1 :], words[index + 2 :], strict=False):
                if (
                    option.text.startswith("-")
                    and "c" in option.text[1:]
                    and not option.text.startswith("--")
                ):
                    return following
                if not option.text.startswith("-"):
                    break
    return None


def timeouts(words: Sequence[Word]) -> Iterator[tuple[float, str, int]]:
    """Seconds, text and line of options that set the timeout of collectives."""
    for word, following in _with_next(words):
        option, equals, value = word.text.partition("=")
        unit = _TIMEOUTS.get(option.lstrip("-").replace("-", "_"))
        if unit is None or not option.startswith("--"):
            continue
        text = value if equals else following or ""
        if re.fullmatch(r"\d{1,9}", text):
            yield float(text) * unit, f"{option} {text}", word.line


def grace(words: Sequence[Word]) -> tuple[float, str, int] | None:
    """Seconds between asking and killing, where ``timeout`` starts the job."""
    if not words or called(words[0].text) != "timeout":
        return None
    text = " ".join(word.text for word in words[1:5])
    if re.search(r"(?:-s|--signal)[= ]?(?:SIG)?(?:KILL|9)\b", text):
        return 0.0, "timeout -s KILL", words[0].line
    after = re.search(r"(?:-k|--kill-after)[= ]?(\d{1,9})s?\b", text)
    return (float(after[1]), f"timeout -k {after[1]}", words[0].line) if after else None


def torch_release(text: str) -> tuple[str | None, str] | None:
    """A release of torch that a command installs or an image is tagged with, and what tells it.

    Of an image that has one, and whose tag is no release of torch: None, and the image.
    """
    for pattern in (_IMAGE, _PINNED):
        found = pattern.search(text)
        if found:
            return found[1], found[0]
    own = _OWN_NUMBERS.search(text)
    return (None, own[0]) if own else None
