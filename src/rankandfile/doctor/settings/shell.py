"""A launch script (bash, sbatch) as settings. Read from top to bottom, as if every branch were taken; never run."""

from __future__ import annotations

import re

from msgspec.structs import replace

from rankandfile.model.ledger import Note
from rankandfile.model.settings import Command, Place, Setting, Settings, Span, SpanKind

from . import launchers
from .expand import clean, expand, settled
from .plain import short
from .shell_scan import Simple, Word, scan

_KEYWORDS = {
    "if",
    "then",
    "else",
    "elif",
    "do",
    "while",
    "until",
    "!",
    "{",
    "}",
    "time",
    "exec",
    "nohup",
    "command",
}
_DECLARE = {"export", "declare", "typeset", "local", "readonly"}
_COMMAND = re.compile(r"(?:^|\s)(?:TORCH_|NCCL_)\w+=")
"""A value that is a command kept for later: ``RUN="env NCCL_DEBUG=WARN python train.py"``."""
_MOST_COMMANDS = 20_000
_NESTING = 3


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.variables: dict[str, str] = {}
        self.pending: dict[str, Setting] = {}
        self.exported: set[str] = set()
        self.settings: list[Setting] = []
        self.outside: set[int] = set()
        self.depth = 0
        self.commands: list[Command] = []
        self.spans: list[Span] = []
        self.gates: list[launchers.Gate] = []
        self.ungated = self.slurm = self.export_all = False
        self.torch: tuple[str | None, str] | None = None
        self.prefixes: list[str] = []
        self.notes: list[Note] = []

    def place(self, line: int) -> Place:
        return Place(file=self.file, line=line)

    def read(self, text: str, line: int = 1) -> None:
        for words in scan(text, line)[:_MOST_COMMANDS]:
            self._command(words)

    def _keep(self, setting: Setting) -> None:
        if not self.depth:
            self.outside.add(len(self.settings))
        self.settings.append(setting)

    def directives(self, text: str) -> None:
        """``#SBATCH`` lines: options of sbatch."""
        for line, content in enumerate(text.split("\n"), start=1):
            if not content.startswith("#SBATCH"):
                continue
            self.slurm = True
            for words in scan(content.removeprefix("#SBATCH"), line):
                for name, value, at in launchers.passed([Word("sbatch", line), *words]):
                    self._assign(name, value, at, exported=True)

    def _command(self, words: Simple) -> None:
        while words and words[0].text in _KEYWORDS:
            words = words[1:]
        inline = []
        while words and (found := launchers.ASSIGNMENT.match(words[0].text)):
            inline.append((found[1], found[2], found[3], words[0].line))
            words = words[1:]
        if not words:
            for name, plus, value, line in inline:
                before = self.variables.get(name, "") if plus else ""
                self._assign(name, before + value, line, exported=self.export_all or name in self.exported)
            return
        first = words[0].text
        if first in _DECLARE:
            self._declare(first, words[1:])
        elif first == "unset":
            self._unset(words[1:])
        elif first == "set":
            options = " ".join(word.text for word in words[1:])
            self.export_all |= bool(re.search(r"(^| )-[a-z]*a|-o allexport", options))
            self.export_all &= not re.search(r"(^| )\+[a-z]*a", options)
        elif first in (".", "source") and len(words) > 1:
            self._source(words[1])
        else:
            self._run(words, inline)

    def _assign(self, name: str, value: str, line: int, exported: bool) -> None:
        text = expand(value, self.variables)
        text = "$HOME" + text[1:] if text.startswith("~") else text
        self.variables[name] = short(text)
        setting = self._given(name, text, line)
        if _COMMAND.search(setting.value or "") and self.depth < _NESTING:
            self._inside(setting.value or "", line)
        if exported:
            self.exported.add(name)
            self.pending.pop(name, None)
            self._keep(setting)
        else:
            self.pending[name] = setting

    def _declare(self, how: str, words: Simple) -> None:
        flags = "".join(word.text for word in words if word.text.startswith(("-", "+")))
        exported = how == "export" or "x" in flags or self.export_all
        for word in words:
            assignment = launchers.ASSIGNMENT.match(word.text)
            if assignment:
                self._assign(
                    assignment[1], assignment[3], word.line, exported or assignment[1] in self.exported
                )
            elif exported and word.text in self.pending:
                self.exported.add(word.text)
                self._keep(self.pending.pop(word.text))

    def _unset(self, words: Simple) -> None:
        for word in words:
            if word.text in self.variables or word.text in self.exported:
                self._keep(Setting(name=word.text, value=None, place=self.place(word.line)))
            self.variables.pop(word.text, None)
            self.pending.pop(word.text, None)
            self.exported.discard(word.text)

    def _source(self, word: Word) -> None:
        path = clean(expand(word.text, self.variables))
        if path.endswith("/bin/activate"):
            self.prefixes.append(path.removesuffix("/bin/activate"))
            return
        what = f"what {short(path, 200)} sets is not seen: give that file too"
        self.notes.append(Note(file=self.file, where=f"line {word.line}", what=what))

    def _run(self, words: Simple, inline: list[tuple[str, str, str, int]]) -> None:
        words = [Word(expand(word.text, self.variables), word.line) for word in words]
        for name, _, value, line in inline:
            self._keep(self._given(name, expand(value, self.variables), line))
        # What a launcher is told to pass on goes through it, whatever else it holds back.
        self.settings += (self._given(*passed) for passed in launchers.passed(words))
        self.slurm |= launchers.called(words[0].text) in launchers.SLURM
        text = short(clean(" ".join(word.text for word in words)))
        self.commands.append(Command(text=text, place=self.place(words[0].line)))
        for seconds, detail, line in launchers.timeouts(words):
            self._span("launcher_timeout", seconds, detail, line)
        if (kill := launchers.grace(words)) is not None:
            self._span("grace", *kill)
        self.torch = launchers.torch_release(text) or self.torch
        if not self.depth and launchers.starts_the_job(words):
            held = launchers.gate(words)
            if held is not None:
                self.gates.append(held)
            self.ungated |= held is None
        script = launchers.script_of(words)
        if script is not None and self.depth < _NESTING:
            self._inside(clean(script.text), script.line)

    def _given(self, name: str, value: str, line: int) -> Setting:
        shown, unexpanded = settled(short(value))
        return Setting(name=name, value=shown, place=self.place(line), unexpanded=unexpanded)

    def _inside(self, text: str, line: int) -> None:
        """A script within the script."""
        self.depth += 1
        self.read(text, line)
        self.depth -= 1

    def _span(self, what: SpanKind, seconds: float, detail: str, line: int) -> None:
        self.spans.append(Span(what=what, seconds=seconds, detail=detail, place=self.place(line)))

    def result(self) -> Settings:
        held = None if self.ungated or not self.gates else self.gates[0]
        inside = {setting.name for setting in self.settings}
        unexported = [
            replace(one, lost="not exported") for one in self.pending.values() if one.name not in inside
        ]
        kept = [
            self._through(setting, held) if number in self.outside else setting
            for number, setting in enumerate(self.settings)
        ]
        return Settings(
            place=Place(file=self.file),
            launcher="slurm" if self.slurm else "shell",
            settings=(*kept, *unexported),
            commands=tuple(self.commands),
            spans=tuple(self.spans),
            torch=self.torch[0] if self.torch else None,
            torch_from=self.torch[1] if self.torch else "",
            prefixes=tuple(self.prefixes),
            notes=tuple(self.notes),
        )

    @staticmethod
    def _through(setting: Setting, held: launchers.Gate | None) -> Setting:
        if held is None or setting.value is None or setting.name in held.allowed:
            return setting
        return replace(setting, lost=held.reason)


def read_script(text: str, file: str, line: int = 1) -> Settings:
    """The settings of a script, whose first line is line `line` of the file."""
    reader = _Reader(file)
    reader.directives(text)
    reader.read(text, line)
    return reader.result()
