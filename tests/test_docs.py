"""Documentation that comes from the code is what the code says now, and its commands are ones that work."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import generate
import pytest
from making import consoles, first_contact, record, reference, screenshots
from support.places import ROOT

from rankandfile.cli.lab_incidents import kind_of
from rankandfile.cli.program import application
from rankandfile.model.causes import CAUSES

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"


def told(page: Path) -> bool:
    return page.stem in generate.TOLD and page.parent == DOCS


@cache
def commands() -> dict[str, list[str]]:
    """Command -> the pages that show it. The pages of the causes show how their incident was made, and are recorded."""
    found: dict[str, list[str]] = {}
    for page in consoles.pages():
        if page.parent.name != "causes":
            for shown in consoles.consoles(page.read_text(encoding="utf-8")):
                found.setdefault(shown.command, []).append(page.name)
    return found


@cache
def ran() -> dict[str, consoles.Ran]:
    """All commands that can be run, in one go: the pages that show their output need it too."""
    return generate.ran(tuple(one for one in commands() if consoles.is_run(one)))


#: Those that show what commands print are made by running all of these.
PAGES = [
    pytest.param(page, id=page.name, marks=pytest.mark.lab if told(page) else ())
    for page in sorted(generate.PAGES, key=str)
]


@pytest.mark.parametrize("page", PAGES)
def test_generated_pages_are_fresh(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if told(page):
        monkeypatch.setattr(generate, "ran_of_told", ran)
    assert page.read_text(encoding="utf-8") == generate.PAGES[page](), "run `make docs`"


@pytest.mark.lab
def test_every_command_of_the_pages_runs() -> None:
    wrong = {command: one.output[-400:] for command, one in ran().items() if one.status not in (0, 1, 3)}
    assert not wrong, {command: (commands()[command], output) for command, output in wrong.items()}


def test_what_is_not_run_is_still_shown_and_has_options_that_exist() -> None:
    shown = [command for command in commands() if not consoles.is_run(command)]
    stale = {start for start in consoles.NOT_RUN if not any(one.startswith(start) for one in shown)}
    assert stale == set(), "take it out of NOT_RUN"
    known = {one.path: one for one in reference.all_commands()}
    for command in [*shown, *_of_causes()]:
        for part in re.split(r"\s*(?:&&|\|)\s*", command):
            words = shlex.split(part.partition(" -- ")[0])
            if words[0] == "raf":
                path = next(name for n in (4, 3, 2) if (name := " ".join(words[:n])) in known)
                options = {option for one in known[path].parameters for option in one.names}
                given = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
                assert given <= {name for option in options for name in option.split("/")}, command


def _of_causes() -> list[str]:
    pages = [page.read_text(encoding="utf-8") for page in (DOCS / "causes").glob("*.md")]
    return [shown.command for page in pages for shown in consoles.consoles(page)]


def test_every_command_and_option_says_what_it_does() -> None:
    for command in reference.all_commands():
        assert command.told, command.path
        assert all(one.told for one in command.parameters), command.path


def test_every_command_of_the_program_has_its_page() -> None:
    """As `raf --help` has them, and not as the generator of the pages finds them."""
    app, pages = application(), DOCS / "commands"
    index = (pages / "index.md").read_text(encoding="utf-8")
    alone = {one.name for one in app.registered_commands if one.name}
    groups = {str(one.name): one.typer_instance for one in app.registered_groups}
    assert alone and groups
    assert {f"{name}.md" for name in {*alone, *groups, "index"}} == {one.name for one in pages.iterdir()}
    for name in alone:
        assert f"({name}.md)" in index
        assert (pages / f"{name}.md").read_text(encoding="utf-8").startswith(f"# raf {name}\n")
    for name, group in groups.items():
        assert group is not None
        for inner in (one.name for one in group.registered_commands):
            assert f"({name}.md#raf-{name}-{inner})" in index
            assert f"\n## raf {name} {inner}\n" in (pages / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_a_page_with_an_example(cause: str) -> None:
    """That of a new cause has one once it names a hang of the lab."""
    assert len(CAUSES[cause].page.split()) > 20
    recorded = record.read(cause)
    if recorded is None:
        assert not CAUSES[cause].scenario, "run `make record`"
        return
    verdict = recorded.diagnosis.verdicts[0]
    named = [verdict.cause, *(one.cause for one in verdict.alternatives)]
    assert cause in named, f"run `make record`: {recorded.scenario} is {verdict.cause} now"
    assert recorded.scenario == CAUSES[cause].scenario
    assert kind_of(recorded.scenario) == ("real" if recorded.real else "simulated")


@pytest.mark.parametrize(("name", "width"), [("answer.svg", 100), ("answer-phone.svg", screenshots.PHONE)])
def test_the_picture_of_the_answer_is_fresh(name: str, width: int) -> None:
    shown = (DOCS / "images" / name).read_text(encoding="utf-8")
    assert shown == screenshots.answer(width), "run `make screenshots`"
    assert "http" not in shown.replace("http://www.w3.org/", ""), "nothing is fetched from elsewhere"


def test_pictures_are_small() -> None:
    assert {one.name for one in DOCS.rglob("*.png") if one.stat().st_size > 200_000} == set()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="group `docs` is not installed")
    into = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(into)],
        cwd=ROOT, env={"NO_MKDOCS_2_WARNING": "1", "PATH": str(shutil.which("git") or "")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return into


@pytest.mark.lab
def test_the_site_builds_and_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    pages = {
        page: page.read_text(encoding="utf-8") for page in site.rglob("*.html") if page.name != "404.html"
    }
    anchors = {page.resolve(): set(re.findall(r'\bid="?([^"\s>]+)', text)) for page, text in pages.items()}
    dead = []
    for page, text in pages.items():
        for link in re.findall(r'<[a-z]+ [^<>]*?\b(?:href|src)="?([^"\s>]+)', text):
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", path) or path.startswith("//"):
                continue
            target = (page.parent / path).resolve() if path else page.resolve()
            if not target.exists() or (anchor and target in anchors and anchor not in anchors[target]):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert len(pages) > len(CAUSES)
    assert dead == []


@pytest.mark.lab
def test_the_site_takes_nothing_from_elsewhere(site: Path) -> None:
    asked = re.compile(
        r"<(?:script|img|iframe)[^>]*\ssrc=\"?(?:https?:)?//|<link[^>]*\shref=\"?(?:https?:)?//"
    )
    assert {
        page.name for page in site.rglob("*.html") if asked.search(page.read_text(encoding="utf-8"))
    } == set()
    styles = "".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css"))
    assert not re.search(r"(?:url\(|@import )['\"]?(?:https?:)?//", styles)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


@pytest.mark.lab
def test_the_site_can_be_read_and_searched(tab: Any, served: str) -> None:
    """As a person goes about it: look for a word, follow what is found, see pictures, leave nothing of the page."""
    complaints: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{served}/index.html")
    tab.keyboard.press("s")
    tab.keyboard.type("skipped_collective")
    found = tab.locator(".md-search-result__item a").first
    found.wait_for(timeout=60_000)
    found.click()
    tab.wait_for_url("**/causes/skipped_collective.html**", timeout=60_000)
    for page in (
        "causes/init_stuck",
        "causes/killed",
        "tutorial",
        "commands/index",
        "commands/show",
        "performance",
    ):
        tab.goto(f"{served}/{page}.html")
        assert tab.evaluate("document.documentElement.scrollWidth") <= 1280, page
        tab.wait_for_function("() => [...document.images].every((one) => one.complete)", timeout=60_000)
        assert (
            tab.evaluate("[...document.images].filter((one) => !one.naturalWidth).map((one) => one.src)")
            == []
        )
    assert complaints == []
    assert [url for url in asked if not url.startswith((served, "data:", "blob:"))] == []


_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_JARGON = re.compile(r"\b(?:behind it|in turn|parted|ways part|ranks part|mends?|mended)\b", re.IGNORECASE)
#: They quote what others wrote, or what was measured with the words of its day.
_QUOTED = ("first-contact.md", "reliability.md")


@pytest.mark.parametrize(
    "page",
    [one for one in sorted(DOCS.rglob("*.md")) if one.name not in _QUOTED],
    ids=lambda page: str(page.relative_to(DOCS)),
)
def test_pages_are_in_plain_words(page: Path) -> None:
    assert _JARGON.findall(_CODE.sub("", page.read_text(encoding="utf-8"))) == []


def test_practice_sets_of_one_number_are_told_together() -> None:
    block = """### 2026-11-2{day} · {name}

* First contact: yes.

| evidence | cases | culprits exact | line |
| --- | --- | --- | --- |
| all evidence and sources | 9 | {culprits} (57%, 25%-84%) | - |
| logs only | 9 | 1/7 (14%, 3%-51%) | 1/7 (14%, 3%-51%) |
"""
    sets = [("practice-7a", "4/7"), ("round-9", "9/9"), ("practice-7b", "6/7"), ("practice-8a", "2/3")]
    page = "\n".join(
        block.format(day=day, name=name, culprits=right) for day, (name, right) in enumerate(sets)
    )
    told = first_contact.practice(page).splitlines()
    assert told[0] == "  | practice sets | 7 | 8 |"
    assert "  | exactly the culprits of a hang | 10/14 | 2/3 |" in told
    assert "  | the line |  |  |" in told
