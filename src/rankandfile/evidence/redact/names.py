"""The names of a case that are to be replaced wherever they stand: hosts, users, peculiar folders, words of the user's.

Gathered from all its texts before any is redacted: a host that one line calls by its name is then known in all.
"""

from __future__ import annotations

import contextlib
import getpass
import re
import socket

from msgspec import Struct, field

from rankandfile.model.known.packages import PACKAGES

from . import cloud_patterns, patterns, public

_ORDINARY = re.compile(r"[\d.]*$")


class Names(Struct):
    hosts: set[str] = field(default_factory=set)
    users: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    """Of namespaces, groups of resources, jobs, buckets."""
    words: set[str] = field(default_factory=set)
    """What whoever packs the case wants hidden besides."""

    def learn_own(self) -> None:
        """Whoever runs this, on whatever machine."""
        self.host(socket.gethostname())
        with contextlib.suppress(KeyError, OSError):
            self.user(getpass.getuser())

    def host(self, name: str) -> None:
        name = name.strip(".").lower()
        if name in public.WORDS or public.NUMBERED.match(name):
            return
        if len(name) > 2 and name not in public.HOSTS and not _ORDINARY.match(name) and not _is_word(name):
            self.hosts.add(name)
            short, dot, _ = name.partition(".")
            if dot and short not in public.FOLDERS and len(short) > 2 and not _ORDINARY.match(short):
                self.hosts.add(short)

    def user(self, name: str) -> None:
        name = name.strip(".").lower()
        if len(name) > 2 and name not in public.USERS and not _is_word(name):
            self.users.add(name)

    def learn(self, text: str) -> None:
        """The hosts and users that this text names as such."""
        for pattern in patterns.USERS:
            for match in pattern.finditer(text):
                self.user(match["user"])
        for pattern in patterns.HOSTS:
            for match in pattern.finditer(text):
                self.host(match.groupdict().get("host") or match[0])
        for pattern in cloud_patterns.NAMES:
            for match in pattern.finditer(text):
                self.other(match["name"])

    def other(self, name: str) -> None:
        name = name.strip(".").lower()
        if len(name) > 2 and name not in public.OTHERS and not _ORDINARY.match(name) and not _is_word(name):
            self.others.add(name)

    def kind(self, word: str) -> str | None:
        """What this word is the name of."""
        word = word.lower()
        if word in self.words:
            return "word"
        if word in self.hosts:
            return "host"
        if word in self.users:
            return "user"
        if word in self.others:
            return "name"
        return "dir" if word in self.folders else None

    def is_person(self, word: str) -> bool:
        return self.kind(word) in ("word", "host", "user", "name")


def _is_word(name: str) -> bool:
    """A word that lines about jobs use for other things: replacing it everywhere would make them unreadable."""
    return name in public.FOLDERS or name in PACKAGES or name.endswith(public.SOURCES)
