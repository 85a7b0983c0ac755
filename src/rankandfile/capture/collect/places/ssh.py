"""Hosts that ssh reaches, each with what the site's configuration says of it."""

from __future__ import annotations

from collections.abc import Sequence

from rankandfile.capture.collect.target import Target

PROGRAM = "ssh"
#: Nobody can be asked for a password by many at a time, and a host that is gone is to be told soon. Of two such options
#: ssh takes the first: what the person gives counts.
_OPTIONS = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15")


def targets(
    hosts: Sequence[str], through: Sequence[str], patterns: Sequence[str], stacks: bool
) -> list[Target]:
    return [
        Target(
            name=host,
            reach=(*through, *_OPTIONS, "--", host),
            login_shell=True,
            patterns=tuple(patterns),
            stacks=stacks,
        )
        for host in hosts
    ]
