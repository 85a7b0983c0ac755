"""The formats that other tools read: valid by their own rules for every cause, and for text that fights back."""

from __future__ import annotations

import functools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import jsonschema
import pytest
from markdown_it import MarkdownIt
from support.places import SCHEMAS
from support.render import hostile
from support.render.diagnosed import DOCUMENTED, document
from support.render.diagnosed import document as document_of

from rankandfile.model.diagnosis import Diagnosis, to_json
from rankandfile.render.formats.github import write as github
from rankandfile.render.formats.junit import write as junit
from rankandfile.render.formats.markdown import write as markdown
from rankandfile.render.formats.sarif import write as sarif
from rankandfile.render.markdown import text

SCHEMA = Path(__file__).parent / "data" / "sarif-2.1.0-rtm.5.json"
PUBLISHED = SCHEMAS / "diagnosis-1.json"


def diagnoses() -> list[Any]:
    return [pytest.param(document(cause), id=cause) for cause in DOCUMENTED] + [
        pytest.param(hostile.diagnosis(), id="hostile")
    ]


every_cause = pytest.mark.parametrize("diagnosis", diagnoses())


@functools.cache
def published() -> jsonschema.Draft202012Validator:
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("cause", DOCUMENTED)
def test_json_follows_the_published_schema(cause: str) -> None:
    document = json.loads(to_json(document_of(cause)))
    assert [error.message for error in published().iter_errors(document)] == []
    assert document["verdicts"]
    document["verdicts"][0]["confidence"] = "certain"
    assert not published().is_valid(document)


@functools.cache
def sarif_rules() -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator(
        json.loads(SCHEMA.read_text(encoding="utf-8")), format_checker=jsonschema.FormatChecker()
    )


@every_cause
def test_sarif_follows_the_official_schema(diagnosis: Diagnosis) -> None:
    log = json.loads(sarif(diagnosis).encode())
    assert [error.message for error in sarif_rules().iter_errors(log)] == []
    (run,) = log["runs"]
    for result, verdict in zip(run["results"], diagnosis.verdicts, strict=True):
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == verdict.cause
        assert (result["kind"] == "fail") == verdict.hang or verdict.cause in ("no_hang", "undetermined")
        assert (result["level"] == "none") == (result["kind"] != "fail")


def test_sarif_leads_to_the_line_and_to_what_each_cohort_called() -> None:
    log = json.loads(sarif(document("rank_conditional"), lambda path: path.removeprefix("/workspace/")))
    (result,) = log["runs"][0]["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "train/trainer.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"]["startLine"] == 85
    assert [other["physicalLocation"]["region"]["startLine"] for other in result["relatedLocations"]] == [
        88,
        86,
    ]
    ways = result["codeFlows"][0]["threadFlows"]
    lines = [
        [step["location"]["physicalLocation"]["region"]["startLine"] for step in way["locations"]]
        for way in ways
    ]
    assert [way["id"] for way in ways] == ["ranks 0-2,4-7", "rank 3"]
    assert lines == [[85, 88], [85, 86]]


def test_sarif_shows_brackets_and_braces_and_makes_no_link() -> None:
    message = json.loads(sarif(hostile.diagnosis()))["runs"][0]["results"][0]["message"]["text"]
    assert r"\[link](javascript:alert(1))" in message
    assert "{{0}}" in message
    assert "\x1b" not in message


def test_the_fingerprint_survives_another_run_of_the_job() -> None:
    def fingerprint(diagnosis: Diagnosis) -> str:
        return str(json.loads(sarif(diagnosis))["runs"][0]["results"][0]["partialFingerprints"]["verdict/v1"])

    one, again, other = document("host_slow"), document("host_slow"), document("host_slow")
    again.verdicts[0].culprits[0].rank = 5
    other.verdicts[0].location.line = 99  # type: ignore[union-attr]
    other.verdicts[0].location.file = "/workspace/train/other.py"  # type: ignore[union-attr]
    assert fingerprint(one) == fingerprint(again) != fingerprint(other)


COMMAND = re.compile(r"::(error|warning|notice) ((?:\w+=[^:,\r\n]*)(?:,\w+=[^:,\r\n]*)*)::([^\r\n]*)\Z")


@every_cause
def test_github_annotations_are_one_command_a_line(diagnosis: Diagnosis) -> None:
    lines = github(diagnosis).split("\n")
    assert len(lines) >= len(diagnosis.verdicts)
    for line in lines:
        found = COMMAND.match(line)
        assert found, line
        said = found[3].replace("%25", "")
        assert "%" not in said, "a percent sign is escaped"
    level = COMMAND.match(lines[0])[1]  # type: ignore[index]
    verdict = diagnosis.verdicts[0]
    assert (level == "error") == (verdict.hang and verdict.confidence != "hypothesis")


def test_github_names_file_line_and_title() -> None:
    (first, *_) = github(
        document("rank_conditional"), lambda path: path.removeprefix("/workspace/train/")
    ).split("\n")
    assert first.startswith(
        "::error file=trainer.py,line=85,title=HANG%3A rank 3 took a branch that depends on the rank (likely)::"
        "Rank 3 made "
    )


@every_cause
def test_junit_is_xml_whose_counts_add_up(diagnosis: Diagnosis) -> None:
    suites = xml.fromstring(junit(diagnosis).encode())
    (suite,) = suites.findall("testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == len(diagnosis.verdicts) == int(suite.get("tests", ""))
    assert len(suite.findall("testcase/failure")) == int(suite.get("failures", ""))
    assert len(suite.findall("testcase/error")) == int(suite.get("errors", ""))
    passed = [case for case in cases if not list(case)]
    assert len(passed) == sum(verdict.cause == "no_hang" for verdict in diagnosis.verdicts)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []
        self.outside_code: list[str] = []
        """One piece for each text node: that is what a reference must be whole in."""
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._code += tag == "code"
        assert not attrs or tag in ("code", "td", "th"), (tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag == "code"

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if not self._code:
            self.outside_code.append(data)


@every_cause
def test_markdown_is_nothing_but_what_we_wrote(diagnosis: Diagnosis) -> None:
    """As GitHub reads it: tables, strike-through, bare links and HTML on."""
    reader = MarkdownIt("gfm-like", {"html": True})
    seen = Tags()
    seen.feed(reader.render(markdown(diagnosis)))
    allowed = {
        "h2",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "strong",
        "code",
        "pre",
        "hr",
    }
    assert seen.tags <= allowed
    said = "".join(seen.words)
    assert not re.search("[\x00-\x08\x1b\u202e]", said)


def test_markdown_keeps_hostile_words_and_breaks_their_references() -> None:
    page = markdown(hostile.diagnosis())
    seen = Tags()
    seen.feed(MarkdownIt("gfm-like", {"html": True}).render(page))
    said = "".join(seen.words)
    for words in (
        "<script>alert(1)</script>",
        "[link](javascript:alert(1))",
        "@octocat",
        "**bold**",
        "&lt;",
        "| cell |",
    ):
        assert said.count(words) >= 10, words
    assert not [words for words in seen.outside_code if re.search(r"@octocat|#12\b|GH-7|www\.|://", words)]


def test_markdown_keeps_code_as_code_in_a_table_too() -> None:
    """What a sentence quotes stands in a code span, whatever it holds; the rest stays text."""
    assert text("parted at `if a[0] | b:` (taken)", in_table=True) == "parted at `if a[0] \\| b:` (taken)"
    assert text("`*x*` or *y*") == "`*x*` or \\*y\\*"
    assert text("one ` alone @you") == "one \\` alone @<!-- -->you"


def test_how_sure_it_is_has_the_words_of_people() -> None:
    for cause, word in (("early_exit", "likely"), ("skipped_collective", "certain")):
        result = json.loads(sarif(document(cause)))["runs"][0]["results"][0]
        assert result["properties"]["confidence"] == word
