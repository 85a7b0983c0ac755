"""Strings without the names in them: a text, a path, a host, a name, a JSON document, the variables of a frame.

A text is taken apart piece by piece: what one pattern has replaced, the next ones do not see. Secrets come first, for
they may stand in anything; names that are known from elsewhere come last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from . import cloud_patterns, patterns, public, secret_patterns
from .names import Names
from .pseudonyms import Pseudonyms

Piece = tuple[str, bool]
"""A part of a text, and whether it is done with."""
Replace = Callable[[re.Match[str]], list[Piece] | None]

_DEEPEST = 12
_BETWEEN = re.compile(r"([._-])")
#: Of a word, with what stands between them: so many are looked at together.
_MOST_PARTS = 17


class Redactor:
    def __init__(self, names: Names, pseudonyms: Pseudonyms) -> None:
        self._names, self._give = names, pseudonyms

    def text(self, text: str) -> str:
        return _joined(self._pieces(text))

    def _pieces(self, text: str) -> list[Piece]:
        pieces = self._secrets([(text, False)], secret_patterns.PREFIXED + secret_patterns.ASSIGNED)
        for pattern in cloud_patterns.IDS:
            pieces = _apply(pieces, pattern, self._id)
        pieces = _apply(pieces, patterns.URL, self._url)
        pieces = _apply(pieces, cloud_patterns.IMAGE, self._image)
        pieces = _apply(pieces, patterns.MAIL, lambda m: [(self._give.of("mail", m[0].lower()), True)])
        pieces = _apply(pieces, patterns.ACCOUNT, self._account)
        pieces = _apply(pieces, patterns.MAC, lambda m: [(self._give.of("mac", m[0].lower()), True)])
        for pattern in (patterns.IPV4, patterns.IPV6):
            pieces = _apply(pieces, pattern, self._address)
        pieces = _apply(pieces, cloud_patterns.DASHED, self._dashed)
        pieces = _apply(pieces, patterns.PATH, self._path)
        pieces = self._secrets(pieces, secret_patterns.SHAPED)
        for pattern in patterns.HOSTS:
            pieces = _apply(pieces, pattern, self._host)
        return _apply(pieces, patterns.WORD, self._word)

    def _secrets(self, pieces: list[Piece], found: tuple[re.Pattern[str], ...]) -> list[Piece]:
        for pattern in found:
            pieces = _apply(pieces, pattern, self._secret)
        return pieces

    def _secret(self, match: re.Match[str]) -> list[Piece] | None:
        span = secret_patterns.span(match)
        if span is None:
            return None
        start, end = span[0] - match.start(), span[1] - match.start()
        whole = match[0]
        return [
            (whole[:start], False),
            (self._give.of("secret", whole[start:end]), True),
            (whole[end:], False),
        ]

    def _id(self, match: re.Match[str]) -> list[Piece]:
        """All of it, or the part that it names."""
        name = match.groupdict().get("name") or match[0]
        before, _, after = match[0].rpartition(name)
        return [(before, False), (self._give.of("id", name.lower()), True), (after, False)]

    def _image(self, match: re.Match[str]) -> list[Piece]:
        path = "/".join(self._give.of("name", step.lower()) for step in match["name"].split("/"))
        return [(f"{self.host(match['host'])}/{path}", True), (match["tag"], True)]

    def _dashed(self, match: re.Match[str]) -> list[Piece] | None:
        address = match["address"].replace(match["between"], ".")
        return [(self._give.of("ip", address), True)] if patterns.is_address(address) else None

    def _url(self, match: re.Match[str]) -> list[Piece]:
        scheme, login, path, query = match["scheme"], match["login"], match["path"] or "", match["query"]
        # A link to public documentation is the same for everybody.
        is_public = not login and public.is_public(match["host"].lower(), path)
        host = match["host"] if is_public else self.host(match["host"].strip("[]"))
        if not is_public:
            path = self.path(path)
        out = f"{scheme}://" + (self._give.of("secret", login) + "@" if login else "") + host
        out += (match["port"] or "") + path
        return [(out + (query[0] + self._give.of("secret", query[1:]) if query and query[1:] else ""), True)]

    def _account(self, match: re.Match[str]) -> list[Piece]:
        return [(f"{self._user(match['user'])}@{self.host(match['host'])}", True)]

    def _user(self, name: str) -> str:
        return name if name.lower() in public.USERS else self._give.of("user", name.lower())

    def _address(self, match: re.Match[str]) -> list[Piece] | None:
        return [(self._give.of("ip", match[0].lower()), True)] if patterns.is_address(match[0]) else None

    def _path(self, match: re.Match[str]) -> list[Piece]:
        path = match[0].rstrip(".,:")
        return [(self.path(path), True), (match[0][len(path) :], False)]

    def _host(self, match: re.Match[str]) -> list[Piece] | None:
        name = match.groupdict().get("host") or match[0]
        before, _, after = match[0].rpartition(name)
        if name.lower() in public.WORDS or public.NUMBERED.match(name.lower()):
            return None
        if name.lower() in public.HOSTS or name.endswith(public.SOURCES) or name.lower() in public.FOLDERS:
            return None
        return [(before, False), (self.host(name), True), (after, False)]

    def _word(self, match: re.Match[str]) -> list[Piece]:
        return [(self._known_in(match[0]), True)]

    def _known_in(self, word: str, kinds: Callable[[str], bool] | None = None) -> str:
        """The word, or the parts of it, that are names known from elsewhere."""
        kind = self._names.kind(word)
        if kind is not None and (kinds is None or kinds(word)):
            return self.host(word) if kind == "host" else self._give.of(kind, word.lower())
        return self._known_parts(word, kinds) if _BETWEEN.search(word) else word

    def _known_parts(self, word: str, kinds: Callable[[str], bool] | None) -> str:
        """The longest known names in it first, from its beginning on: `node-a` in `trace_node-a_0`."""
        parts = _BETWEEN.split(word)
        done, at = "", 0
        while at < len(parts):
            for end in range(min(len(parts), at + _MOST_PARTS), at, -2):
                name = "".join(parts[at:end])
                kind = self._names.kind(name) if end - at < len(parts) else None
                if kind is not None and (kinds is None or kinds(name)):
                    done += self.host(name) if kind == "host" else self._give.of(kind, name.lower())
                    break
            else:
                end = at + 1
                done += parts[at]
            done += "".join(parts[end : end + 1])
            at = end + 1
        return done

    def host(self, name: str) -> str:
        """``host-k3v9x2ma``, or ``host-k3v9x2ma.net-p0q7d5fe`` of a full name: both are seen to be one machine."""
        lower = name.lower().strip(".")
        if not lower or lower in public.HOSTS:
            return name
        if patterns.is_address(lower):
            return self._give.of("ip", lower)
        if re.fullmatch(r"[\d.:]+", lower):
            return name
        short, _, domain = lower.partition(".")
        shown = self._give.of("host", short)
        return f"{shown}.{self._give.of('net', domain)}" if domain else shown

    def path(self, path: str) -> str:
        """The path with the names of folders replaced, but not the name of a source, nor what lies in a library."""
        separator = "\\" if "\\" in path and "/" not in path else "/"
        # `!/` stands between an archive and its member.
        return "!/".join(self._one_path(part, separator) for part in path.split("!/"))

    def _one_path(self, path: str, separator: str) -> str:
        steps = path.split(separator)
        # Relative ones have no empty step in front.
        kept = public.is_library(steps)
        own = steps[: len(steps) - kept] if kept < len(steps) else []
        done = [
            self._step(step, steps[index - 1] if index else "", index == len(steps) - 1)
            for index, step in enumerate(own)
        ]
        people = self._names.is_person
        return separator.join([*done, *(self._known_in(step, people) for step in steps[len(own) :])])

    def _step(self, step: str, above: str, is_last: bool) -> str:
        bare = step.removeprefix("~") if above == "" else step
        if self._names.is_person(bare):
            return step[: len(step) - len(bare)] + self._known_in(bare, self._names.is_person)
        if above in ("home", "Users", "users") and step:
            return self._user(step)
        if public.is_folder(step) or (is_last and public.is_file(step)):
            # Only the names of people and machines in it: `trainer_of_alice.py`.
            return self._known_in(step, self._names.is_person)
        if len(step) > 1 and step[1:] == ":":
            return step
        if patterns.is_address(step):
            return self._give.of("ip", step)
        if is_last and "." in step.strip("."):
            stem, _, suffix = step.rpartition(".")
            if suffix.isalnum() and len(suffix) <= 5:
                return f"{self._give.of('file', stem.lower())}.{suffix}"
        return self._give.of("dir", step.lower())

    def name(self, name: str) -> str:
        """The name of a function, a thread or a group: it stays, but for people, machines and obvious keys in it."""
        pieces = self._secrets([(name, False)], secret_patterns.PREFIXED)
        pieces = _apply(pieces, patterns.MAIL, lambda m: [(self._give.of("mail", m[0].lower()), True)])
        return _joined(
            _apply(pieces, patterns.WORD, lambda m: [(self._known_in(m[0], self._names.is_person), True)])
        )

    def document(self, text: str) -> str:
        """A JSON document; its keys are the product's own."""
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return self.text(text)
        return msgspec.json.encode(self._value(value, 0)).decode()

    def _value(self, value: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            return None
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            if len(value) == 3 and isinstance(value[0], str) and isinstance(value[1], str):
                return [self.name(value[0]), self.path(value[1]), self._value(value[2], depth + 1)]
            return [self._value(one, depth + 1) for one in value]
        if isinstance(value, dict):
            return {str(key): self._keyed(str(key), one, depth) for key, one in value.items()}
        return value

    def _keyed(self, key: str, value: Any, depth: int) -> Any:
        """A value whose key says what it is: `password` of a document is a secret as `password=` of a line is."""
        if key in ("host", "hostname", "node") and isinstance(value, str):
            return self.host(value)
        if isinstance(value, str) and any(
            p.match(f"{key}={value or 0}") for p in secret_patterns.ASSIGNED[:1]
        ):
            return self._give.of("secret", value)
        if isinstance(value, str) and any(p.match(f"{key}={value}") for p in cloud_patterns.NAMES[:1]):
            return self._known_in(value)
        return self._value(value, depth + 1)

    def variables(self, text: str) -> str:
        """A frame's variables: the names and the numbers. Strings may be anything, users' data too."""
        pieces = _apply([(text, False)], patterns.QUOTED, lambda m: [(self._give.of("text", m[0]), True)])
        return "".join(part if done else self.text(part) for part, done in pieces)


def _joined(pieces: list[Piece]) -> str:
    return "".join(part for part, _ in pieces)


def _apply(pieces: list[Piece], pattern: re.Pattern[str], replace: Replace) -> list[Piece]:
    return [
        new for part, done in pieces for new in ([(part, True)] if done else _split(part, pattern, replace))
    ]


def _split(text: str, pattern: re.Pattern[str], replace: Replace) -> Iterator[Piece]:
    at = 0
    for match in pattern.finditer(text):
        new = replace(match)
        if new is None:
            continue
        yield text[at : match.start()], False
        yield from new
        at = match.end()
    yield text[at:], False
