"""The rules on Markdown pages: every program with the message expected on its line, and a twin in which nothing is.

A page's second-level headings begin programs; a code block is a file, named by its first line (`# file: train.py`, else
`train.py`). A line that is flagged ends in `# error[rule] some of the message`, one for each finding.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.lint_pages import FOLLOWED, PAGES, Program, programs

from rankandfile import listing
from rankandfile.source.lint.run import RULES, Options, lint, rules

_EXPECTED = re.compile(r"#\s*(error|warning|hint)\[([\w-]+)\]\s*(.*?)(?=#|$)")


def expected(files: dict[str, str]) -> list[tuple[str, int, str, str, str]]:
    return sorted(
        (name, number, severity, rule, words.strip())
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        for severity, rule, words in _EXPECTED.findall(line)
    )


@pytest.mark.parametrize(
    "program", [*programs(), *programs(FOLLOWED)], ids=lambda program: f"{program.page}: {program.title}"
)
def test_what_is_expected_is_said_and_nothing_else(program: Program, tmp_path: Path) -> None:
    for name, text in program.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    wanted = expected(program.files)
    report = lint([tmp_path], Options(hints=any(severity == "hint" for _, _, severity, _, _ in wanted)))
    assert not report.notes
    said = sorted(
        (Path(each.file).relative_to(tmp_path).as_posix(), each.line, each.severity, each.rule)
        for each in report.flagged
    )
    assert said == [each[:4] for each in wanted], "\n".join(map(str, report.flagged))
    for name, line, _severity, rule, words in wanted:
        messages = [
            " ".join([each.message, *(told.words for told in each.story)])
            for each in report.flagged
            if each.rule == rule and each.line == line and each.file.endswith(name)
        ]
        assert any(words in message for message in messages), messages


def test_every_rule_has_its_page_with_a_bad_program_and_a_twin() -> None:
    told = {rule for program in programs() for *_, rule, _ in expected(program.files)}
    assert told == set(rules())
    assert {page.stem for page in PAGES} >= set(rules())
    for page in PAGES:
        kinds = {bool(expected(p.files)) for p in programs() if p.page == page.stem}
        assert kinds == {True, False}, page


def test_the_page_of_a_rule_has_all_its_parts() -> None:
    for module in listing.modules(RULES):
        doc = module.__doc__ or ""
        heads = re.findall(r"^## (.*)$", doc, flags=re.MULTILINE)
        assert heads == ["Why this is bad", "Example", "Use instead", "Limits"], module.__name__
