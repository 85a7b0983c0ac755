"""Writes the parts of the documentation that come from the code. `make docs`; a test fails where they are stale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from types import ModuleType

from making import agent, causes, consoles, first_contact, reference
from making.causes import between

from rankandfile import listing
from rankandfile.model import settings
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import json_schema
from rankandfile.model.tables import TABLES
from rankandfile.source.lint.run import RULES, meanings

DOCS = Path(__file__).parent
ROOT = DOCS.parent
README = ROOT / "README.md"

#: The command whose output the README shows.
ANSWER = ["diagnose", "examples/early-stop/evidence", "--src", "examples/early-stop/src"]

_TABLES_HEAD = """# The tables of a case

`raf case convert PATH... -o case/` writes these tables as Parquet files, together with `case.json` (what could not be
read, and the number of ranks). Any command reads such a directory in place of dumps; so do DuckDB, pandas and Polars:

```sql
select c.rank, c.op, c.state, f.file, f.line
from 'case/calls.parquet' c left join 'case/frames.parquet' f on c.site = f.frame
where c.state = 'issued' order by c.rank, c.record;
```

This page is generated from `src/rankandfile/model/tables.py`.
"""


def tables() -> str:
    parts = [_TABLES_HEAD]
    for name, columns in TABLES.items():
        parts.append(f"\n## `{name}.parquet`\n\n| column | type | meaning |\n| --- | --- | --- |\n")
        for column in columns:
            kind = str(column.dtype).split("(categories", 1)[0]
            parts.append(f"| `{column.name}` | {kind} | {column.meaning.replace('|', chr(92) + '|')} |\n")
    return "".join(parts)


def schema() -> str:
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def examination_schema() -> str:
    return json.dumps(settings.json_schema(), indent=2, ensure_ascii=False) + "\n"


def readme() -> str:
    """The README with what its first command prints now, and with the marks at first contact."""
    command = [sys.executable, "-m", "rankandfile", *ANSWER]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    answer = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    told = f"```text\n$ raf {' '.join(ANSWER)}\n{answer}\n```"
    marks = first_contact.practice((DOCS / "first-contact.md").read_text(encoding="utf-8"))
    text = between(README.read_text(encoding="utf-8"), "answer", told)
    # Indented: it stands in an item of a list.
    return between(text, "practice", marks, indent="  ")


EVIDENCE, SOURCE = "examples/early-stop/evidence", "examples/early-stop/src"


def fixes() -> str:
    """The page on fixes with what its commands print now, and the patterns in the order in which they are tried."""
    page = DOCS / "fixes.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    text = between(text, "example", _shown("fix", EVIDENCE, "--src", SOURCE))
    text = between(text, "probe", _shown("fix", EVIDENCE, "--src", SOURCE, "--probe"))
    patterns = listing.modules("rankandfile.source.remedies.patterns")
    return between(
        text, "patterns", _listed("pattern", "what it does", patterns, lambda one: one.PATTERN.name)
    )


def doctor() -> str:
    """The page on the doctor with its checks."""
    text = (DOCS / "doctor.md").read_text(encoding="utf-8")
    found = listing.modules("rankandfile.doctor.checks")
    return between(text, "checks", _listed("check", "what it is about", found, listing.word))


def lint() -> str:
    """The page on the linter with its rules."""
    rows = [f"| [`{rule}`](lint-rules.md#{rule}) | {meaning} |" for rule, meaning in meanings()]
    table = "\n".join(["| rule | what it finds |", "| --- | --- |", *rows])
    return between((DOCS / "lint.md").read_text(encoding="utf-8"), "rules", table)


def lint_rules() -> str:
    """What the file of each rule says of it."""
    parts = ["# The rules of raf lint\n\nThis page is generated from `src/rankandfile/source/rules/`.\n"]
    for (rule, _meaning), module in zip(meanings(), listing.modules(RULES), strict=True):
        told = (module.__doc__ or "").replace("\n## ", "\n### ")
        parts.append(f"## {rule}\n\n{told}")
    return "\n".join(parts)


def _listed(kind: str, about: str, files: Sequence[ModuleType], name: Callable[[ModuleType], str]) -> str:
    """A table of files of one kind: the name of each, and what it says of itself."""
    told = [(name(file), " ".join((file.__doc__ or "").split()).rstrip(".")) for file in files]
    return "\n".join(
        [f"| {kind} | {about} |", "| --- | --- |", *(f"| `{word}` | {says} |" for word, says in told)]
    )


def _shown(*command: str) -> str:
    """The command, and what it prints on stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", *command],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return f"```console\n$ raf {' '.join(command)}\n```\n\n```diff\n{done.stdout}```"


def architecture() -> str:
    return between((DOCS / "architecture.md").read_text(encoding="utf-8"), "rooms", reference.rooms())


#: Pages whose commands are run, and shown with what they print.
TOLD = ("index", "tutorial", "logs-only", "slurm", "kubernetes", "torchrun", "collect")


@cache
def ran(commands: tuple[str, ...]) -> dict[str, consoles.Ran]:
    return consoles.run(commands)


def ran_of_told() -> dict[str, consoles.Ran]:
    texts = [(DOCS / f"{name}.md").read_text(encoding="utf-8") for name in TOLD]
    shown = [one.command for text in texts for one in consoles.consoles(text)]
    return ran(tuple(command for command in shown if consoles.is_run(command)))


def _told(name: str) -> str:
    return consoles.told((DOCS / f"{name}.md").read_text(encoding="utf-8"), ran_of_told())


PAGES: dict[Path, Callable[[], str]] = {
    README: readme,
    **{DOCS / f"{name}.md": partial(_told, name) for name in TOLD},
    DOCS / "commands" / "index.md": reference.index,
    **{DOCS / "commands" / f"{word}.md": partial(reference.page, word) for word in reference.words()},
    DOCS / "schema.md": reference.schema,
    DOCS / "causes" / "index.md": causes.index,
    **{DOCS / "causes" / f"{cause}.md": partial(causes.page, cause) for cause in CAUSES},
    **{DOCS / "causes" / f"{cause}.svg": partial(causes.svg, cause) for cause in causes.shown_causes()},
    ROOT / "mkdocs.yml": lambda: reference.navigation(causes.navigation()),
    DOCS / "agent.md": agent.page,
    DOCS / "architecture.md": architecture,
    DOCS / "doctor.md": doctor,
    DOCS / "fixes.md": fixes,
    DOCS / "lint.md": lint,
    DOCS / "lint-rules.md": lint_rules,
    DOCS / "tables.md": tables,
    DOCS / "schema" / "diagnosis-1.json": schema,
    DOCS / "schema" / "examination-1.json": examination_schema,
}


def main() -> None:
    for path, make in PAGES.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
