"""A shell script as simple commands: words with their lines, quotes resolved. Nothing is expanded or run.

One pass, linear in the text. What a shell would refuse (a quote that is never closed) is taken as it stands.
Where quoting keeps a ``$`` or a ``~`` from being expanded, the word carries a mark in its place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LITERAL_DOLLAR, LITERAL_TILDE = "\ue000", "\ue001"
"""Marks from the private-use area; `plain` has removed those of the file itself."""

_FAILURES = 64
"""How often an unclosed bracket or here-document is searched for: hostile text shall cost no more than its length."""
_NESTED = 4096
"""Longest substitution that is kept as one piece."""
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s;|&<>()]+))")
_PLAIN = re.compile(r"[^\\'\"$`#\s;|&()<>~]+")


class Word(NamedTuple):
    text: str
    line: int


Simple = list[Word]
"""One simple command: its words, assignments included."""


class _Scanner:
    def __init__(self, text: str, line: int) -> None:
        self.text, self.line, self.at = text, line, 0
        self.commands: list[Simple] = []
        self.words: Simple = []
        self.piece: list[str] | None = None
        self.word_line = line
        self.heredocs: list[tuple[str, bool]] = []
        self.failures = 0
        self.open_double = False

    def scan(self) -> list[Simple]:
        while self.at < len(self.text):
            run = _PLAIN.match(self.text, self.at)
            if run:
                self._add(run[0])
                self.at = run.end()
            else:
                self._special(self.text[self.at])
        self._end_command()
        return self.commands

    def _special(self, char: str) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if char == "\\":
            self._escape(after)
        elif char == "'":
            self._single()
        elif char == '"':
            self._double()
        elif char in "$`":
            self._add(self._substitution())
        elif char == "#" and self.piece is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char == "\n":
            self._end_command()
            self._newline()
        elif char in ";|()" or (char == "&" and after != ">"):
            self._end_command()
            self.at += 1
        elif char in "<>&":
            self._redirect()
        elif char.isspace():
            self._end_word()
            self.at += 1
        else:
            self._add(char)
            self.at += 1

    def _add(self, text: str) -> None:
        if self.piece is None:
            self.piece, self.word_line = [], self.line
        self.piece.append(text)

    def _end_word(self) -> None:
        if self.piece is not None:
            self.words.append(Word("".join(self.piece), self.word_line))
            self.piece = None

    def _end_command(self) -> None:
        self._end_word()
        if self.words:
            self.commands.append(self.words)
            self.words = []

    def _newline(self) -> None:
        self.line += 1
        self.at += 1
        for delimiter, strip in self.heredocs:
            self._skip_heredoc(delimiter, strip)
        self.heredocs.clear()

    def _skip_heredoc(self, delimiter: str, strip: bool) -> None:
        if self.failures > _FAILURES:
            return
        indent = r"\t*" if strip else ""
        end = re.compile(rf"^{indent}{re.escape(delimiter)}$", re.MULTILINE).search(self.text, self.at)
        if end is None:
            self.failures += 1
            return
        stop = min(end.end() + 1, len(self.text))
        self.line += self.text.count("\n", self.at, stop)
        self.at = stop

    def _escape(self, after: str) -> None:
        self.at += 2
        if after == "\n":
            self.line += 1
        else:
            self._add(LITERAL_DOLLAR if after == "$" else after)

    def _single(self) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self._add("'")
            self.at += 1
            return
        inside = self.text[self.at + 1 : end]
        self._add(self._tilde(inside) + inside.replace("$", LITERAL_DOLLAR))
        self.line += inside.count("\n")
        self.at = end + 1

    def _tilde(self, inside: str) -> str:
        """A mark where a quoted tilde begins a word or a value: a shell leaves that one alone."""
        starts = self.piece is None or "".join(self.piece[-1:]).endswith("=")
        return LITERAL_TILDE if inside.startswith("~") and starts else ""

    def _double(self) -> None:
        start, line = self.at, self.line
        self.at += 1
        kept: list[str] = []
        while self.at < len(self.text) and not self.open_double:
            char = self.text[self.at]
            if char == '"':
                inside = "".join(kept)
                self._add(self._tilde(inside) + inside)
                self.at += 1
                return
            if char in "$`":
                kept.append(self._substitution())
                continue
            if char == "\\":
                after = self.text[self.at + 1 : self.at + 2]
                kept.append(
                    {"$": LITERAL_DOLLAR, '"': '"', "\\": "\\", "`": "`", "\n": ""}.get(after, char + after)
                )
                self.line += after == "\n"
                self.at += 2
                continue
            self.line += char == "\n"
            kept.append(char)
            self.at += 1
        self.open_double = True
        self.at, self.line = start + 1, line
        self._add('"')

    def _substitution(self) -> str:
        """``$(...)``, ``${...}`` or backquotes as one piece; any other ``$`` as it stands."""
        start = self.at
        pair = {"$(": "()", "${": "{}"}.get(self.text[start : start + 2])
        end = -1
        if self.text[start] == "`":
            end = self.text.find("`", start + 1, start + _NESTED)
        elif pair and self.failures <= _FAILURES:
            end = self._matching(start + 1, pair)
        if end < 0:
            self.failures += pair is not None
            self.at += 1
            return self.text[start]
        self.at = end + 1
        self.line += self.text.count("\n", start, self.at)
        return self.text[start : self.at]

    def _matching(self, start: int, pair: str) -> int:
        depth = 0
        for at in range(start, min(len(self.text), start + _NESTED)):
            if self.text[at] == pair[0]:
                depth += 1
            elif self.text[at] == pair[1]:
                depth -= 1
                if not depth:
                    return at
        return -1

    def _redirect(self) -> None:
        if self.text.startswith("<<", self.at) and not self.text.startswith("<<<", self.at):
            found = _HEREDOC.match(self.text, self.at)
            if found:
                self._end_word()
                self.heredocs.append((found[2] or found[3] or found[4], found[1] == "-"))
                self.at = found.end()
                return
        self._end_word()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "<>&":
            self.at += 1
        self.words.append(Word(self.text[start : self.at], self.line))


def scan(text: str, line: int = 1) -> list[Simple]:
    """The simple commands of a script, in the order they stand there; here-documents and comments left out."""
    return _Scanner(text, line).scan()
