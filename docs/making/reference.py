"""Pages that are read off the program: every command with its options, and the keys of the JSON document."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from rankandfile.cli.commands import fr_trace
from rankandfile.cli.help_pages.told import Parameter, parameters
from rankandfile.cli.panels import PANELS
from rankandfile.cli.program import application
from rankandfile.model import claims, diagnosis, ledger
from rankandfile.model.diagnosis import SCHEMA, json_schema

_COMMANDS_HEAD = """# Commands

`raf PATH...` is `raf diagnose PATH...`. Every command has `--help`, which says the same as its page. Exit status of the
commands that give a verdict: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined; 70 is a fault
of raf itself.

These pages are generated from the commands themselves.
"""

_ROOT = Path(__file__).parents[2]

_SCHEMA_HEAD = f"""# The JSON document

`raf diagnose PATH... --format json` prints one document, `{SCHEMA}`. Its keys are frozen: new ones may be added, none
changes its meaning without a new number. Every key is always there; what is not known is `null` or empty.

```sh
raf diagnose dumps/ --format json | python3 -c 'import json, sys
for verdict in json.load(sys.stdin)["verdicts"]:
    print(verdict["cause"], [culprit["rank"] for culprit in verdict["culprits"]])'
```

The schema for validators is [diagnosis-1.json](schema/diagnosis-1.json). What `raf doctor --format json` prints is
[examination-1.json](schema/examination-1.json).

This page is generated from `src/rankandfile/model/diagnosis.py`. The document is a [Diagnosis](#diagnosis).
"""


@dataclass
class Command:
    path: str
    told: str
    parameters: list[Parameter]
    examples: list[str]

    @property
    def word(self) -> str:
        """What comes after `raf`: a command, or a group of them. Each has a page."""
        return self.path.split()[1]


@dataclass
class Word:
    panel: str
    told: str
    """Of a group; empty for a command, which says it itself."""


def words() -> dict[str, Word]:
    """All that can come after `raf`, in the order of `raf --help`."""
    app = application()
    found = {}
    for one in app.registered_commands:
        assert one.callback is not None
        found[one.name or one.callback.__name__.replace("_", "-")] = Word(str(one.rich_help_panel), "")
    for group in app.registered_groups:
        assert group.typer_instance is not None
        told = _paragraphs(str(group.typer_instance.info.help))
        found[str(group.name)] = Word(str(group.rich_help_panel), told)
    return dict(sorted(found.items(), key=lambda item: PANELS.index(item[1].panel)))


def index() -> str:
    """Every command in a line, under the headings of `raf --help`."""
    known, parts, last = list(all_commands()), [_COMMANDS_HEAD], ""
    for word, about in words().items():
        if about.panel != last:
            parts.append(f"\n## {about.panel}\n\n| command | |\n| --- | --- |\n")
            last = about.panel
        for one in (one for one in known if one.word == word):
            first = one.told.split("\n\n")[0]
            anchor = f"#{one.path.replace(' ', '-')}" if about.told else ""
            parts.append(f"| [`{one.path}`]({word}.md{anchor}) | {_cell(first)} |\n")
    return "".join(parts)


def page(word: str) -> str:
    """The command of that word, or all commands of the group."""
    if word == "fr-trace":
        # Its options are torch's, and no function's.
        return f"# raf fr-trace\n\n```text\n{fr_trace.parser().format_help()}```\n"
    about = words()[word].told
    shown = [one for one in all_commands() if one.word == word]
    if not about:
        return _command(shown[0]).lstrip().replace("## ", "# ", 1)
    return f"# raf {word}\n\n{about}\n" + "".join(map(_command, shown))


def navigation(text: str) -> str:
    """The settings of the site with a page for each word."""
    before, begin, rest = text.partition("      - Commands:\n")
    lines, last = ["          - commands/index.md"], ""
    for word, about in words().items():
        if about.panel != last:
            lines.append(f"          - {about.panel}:")
            last = about.panel
        lines.append(f"              - raf {word}: commands/{word}.md")
    return f"{before}{begin}{chr(10).join(lines)}\n      - Python{rest.partition('      - Python')[2]}"


def all_commands() -> Iterator[Command]:
    """Every command that does something. They are read off their functions: Typer's own objects change with its
    versions."""

    def walk(group: typer.Typer, path: str) -> Iterator[Command]:
        for one in group.registered_commands:
            assert one.callback is not None
            yield Command(
                path=f"{path} {one.name or one.callback.__name__.replace('_', '-')}",
                told=_paragraphs(one.callback.__doc__),
                parameters=list(parameters(one.callback)),
                examples=(one.epilog or "").splitlines(),
            )
        for inner in group.registered_groups:
            assert inner.typer_instance is not None
            yield from walk(inner.typer_instance, f"{path} {inner.name}")

    return walk(application(), "raf")


def _command(command: Command) -> str:
    arguments = [one.metavar for one in command.parameters if not one.names]
    usage = " ".join([command.path, "[OPTIONS]", *arguments])
    parts = [f"\n## {command.path}\n", f"```text\n{usage}\n```\n", f"{command.told}\n"]
    if command.parameters:
        rows = "".join(map(_row, command.parameters))
        parts.append("| | default | |\n| --- | --- | --- |\n" + rows)
    if command.examples:
        lines = "\n".join(command.examples)
        parts.append(f"```text\n{lines}\n```\n")
    return "\n".join(parts)


def _row(one: Parameter) -> str:
    name = ", ".join(f"`{name}`" for name in one.names)
    words = " ".join(filter(None, (name, f"`{one.metavar}`" if one.metavar else "")))
    return f"| {_cell(words)} | {_cell(one.default)} | {_cell(one.told)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _paragraphs(text: str | None) -> str:
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def schema() -> str:
    """A table for every part of the document, with what the source says of its keys."""
    parts, told = json_schema()["$defs"], {**_told(diagnosis), **_told(ledger), **_told(claims)}
    order = ["Diagnosis", *(name for name in told if name in parts and name != "Diagnosis")]
    shared = told["Base"][1] | told["OfCall"][1]
    text = [_SCHEMA_HEAD]
    for name in order:
        about, keys = told[name]
        text.append(f"\n## {name}\n\n" + (f"{about}\n\n" if about else ""))
        text.append("| key | type | |\n| --- | --- | --- |\n")
        for key, value in parts[name]["properties"].items():
            text.append(
                f"| `{key}` | {_cell(_type(value))} | {_cell(keys.get(key, shared.get(key, '')))} |\n"
            )
    return "".join(text)


def rooms() -> str:
    """The rooms of the package, folders and single modules: what each says of itself, and what it may import."""
    spec = importlib.util.spec_from_file_location("rooms_of_the_house", _ROOT / "tests" / "test_rooms.py")
    assert spec is not None
    assert spec.loader is not None
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    rows = ["| room | what lives there | may import |", "| --- | --- | --- |"]
    package = _ROOT / "src" / "rankandfile"
    for room, others in house.MAY_IMPORT.items():
        file = package / f"{room}.py"
        path = file if file.exists() else package / room / "__init__.py"
        if path.exists():
            told = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
            names = ", ".join(f"`{name}`" for name in sorted(others)) or "nothing"
            rows.append(f"| `{room}` | {_cell(' '.join(told.split()))} | {names} |")
    return "\n".join(rows)


def _told(module: Any) -> dict[str, tuple[str, dict[str, str]]]:
    """Class -> its docstring, and key -> the string that follows it in the source."""
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        keys: dict[str, str] = {}
        for line, after in zip(node.body, [*node.body[1:], None], strict=True):
            if (
                isinstance(line, ast.AnnAssign)
                and isinstance(line.target, ast.Name)
                and isinstance(after, ast.Expr)
            ):
                keys[line.target.id] = " ".join(str(ast.literal_eval(after.value)).split())
        found[node.name] = " ".join((ast.get_docstring(node) or "").split()), keys
    return found


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" if value else "empty" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
