"""Whose evidence is wanted, and how it is reached."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rankandfile.cli.errors import UserError, told_as

from .place import Place

if TYPE_CHECKING:
    from rankandfile.capture.collect.target import Target


class Asked(Struct, frozen=True, kw_only=True):
    """Whose evidence, and which."""

    slurm: str | None = None
    kubernetes: str | None = None
    hosts: tuple[str, ...] = ()
    host_file: str | None = None
    shared: tuple[Path, ...] = ()
    through: str | None = None
    container: str | None = None
    patterns: tuple[str, ...] = ()
    stacks: bool = False


def targets(asked: Asked, place: Place) -> list[Target]:
    """Raises `UserError`, also for what the site's commands say against it."""
    from rankandfile.capture.collect.places import host_names, kubernetes, shared, slurm, ssh

    if any(not one or not one.isprintable() for one in asked.patterns):
        raise UserError("a pattern is empty, or has a line break in it")
    hosts = [name for text in asked.hosts for name in host_names.listed(text)]
    hosts += host_names.of_file(_text(asked.host_file)) if asked.host_file else []
    ways = [bool(asked.slurm), bool(asked.kubernetes), bool(hosts)]
    if sum(ways) > 1:
        raise UserError(
            "one of --slurm, --kubernetes, and --ssh or --hosts at a time: the others with the same -o"
        )
    if not any(ways) and not asked.shared:
        raise UserError(
            "from where? --slurm JOB, --kubernetes NAMESPACE/SELECTOR, --ssh HOSTS, --hosts FILE or --shared DIR"
        )
    found: list[Target] = []
    if asked.slurm:
        found = slurm.targets(asked.slurm, _through(asked, slurm.PROGRAM), asked.patterns, asked.stacks)
    elif asked.kubernetes:
        words = _through(asked, kubernetes.PROGRAM)
        found = kubernetes.targets(asked.kubernetes, words, asked.patterns, asked.stacks, asked.container)
    elif hosts:
        words = _through(asked, ssh.PROGRAM)
        found = ssh.targets(host_names.checked(hosts), words, asked.patterns, asked.stacks)
    for folder in dict.fromkeys(asked.shared):
        if place.named.resolve().is_relative_to(folder.resolve()):
            raise UserError(f"-o {place.named}: lies in --shared {folder}, and would be gathered into itself")
        found.append(shared.target(folder, asked.patterns))
    # Two spellings of a folder are the same one.
    return list({one.name: one for one in found}.values())


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    with told_as(f"--hosts {file}"):
        return Path(file).read_text(encoding="utf-8", errors="replace")


def _through(asked: Asked, program: str) -> list[str]:
    try:
        words = shlex.split(asked.through) if asked.through else [program]
    except ValueError as error:
        raise UserError(f"--through {asked.through}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UserError(
            f"{words[0] if words else '--through'}: no such command here; --through names another one"
        )
    return words
