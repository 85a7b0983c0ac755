"""A person's mistakes are one line and exit status 2, for every command; never a traceback, and never a verdict's 1."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from making import reference
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP
from support.selected import in_lab

from rankandfile import __version__
from rankandfile.evidence.flight.native import Native
from rankandfile.runtime.recorder import native

pytestmark = pytest.mark.slow

#: What a command must be given besides the mistake.
NEEDED = {
    "case convert": ["-o", "{new}"],
    "case pack": ["-o", "{new}.zip"],
    "condense": ["-o", "{new}.case"],
    "fix": ["--src", "{src}"],
    "lab ablate": [],
    "lab answers": ["-o", "{new}"],
    "lab run": ["early_stop_local"],
    "lab watch": ["{new}"],
    "case open": ["{garbage}"],
    "lab blind new": ["{new}"],
    "show evidence": [],
}
#: Of their own kind: they start or serve a process, or take what they are given for a name.
APART = {"run", "fr-trace"}


COMMANDS = {
    path: one for one in reference.all_commands() if (path := one.path.removeprefix("raf ")) not in APART
}
OF_EVIDENCE = [
    path
    for path, one in COMMANDS.items()
    if path != "explore"
    and any("ump" in p.told and "archives" in p.told for p in one.parameters if not p.names)
]
EVIDENCE_FAULTS = {
    "no such path": ("/does/not/exist", "no such file"),
    "empty folder": ("{empty}", "no file in it"),
    "unrelated folder": ("{unrelated}", "looked at 5 files: 3 .py, 1 .toml, 1 .j2; raf reads"),
    "unreadable file": ("{garbage}", "nothing there tells of a job"),
    "an address": ("https://host/dumps", "curl -fLO https://host/dumps"),
}


NUMBERS = [
    (path, max(p.names, key=len))
    for path, one in COMMANDS.items()
    for p in one.parameters
    if p.number and p.names
]
OUTPUTS = [
    path
    for path, one in COMMANDS.items()
    if any("-o" in p.names for p in one.parameters) and path not in ("attach", "control run")
]
RANKS = [
    path
    for path, one in COMMANDS.items()
    if path != "lint" and any({"--rank", "--explain"} & {*p.names} for p in one.parameters)
]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    here = tmp_path_factory.mktemp("places")
    (here / "empty").mkdir()
    (here / "unrelated").mkdir()
    for name in ("a.py", "b.py", "c.py"):
        (here / "unrelated" / name).write_text("raise RuntimeError('failed')\n")
    (here / "unrelated" / "d.toml").write_text('code = "except (NotImplementedError, FileNotFoundError):"\n')
    (here / "unrelated" / "e.j2").write_text("<p>Nothing tells of a hang, or of its absence.</p>\n")
    (here / "garbage").write_bytes(bytes(range(256)) * 64)
    return {
        "dumps": EARLY_STOP / "evidence" / "dumps",
        "src": EARLY_STOP / "src",
        "empty": here / "empty",
        "unrelated": here / "unrelated",
        "garbage": here / "garbage",
        "new": here / "new",
    }


def one_line(raf: Raf, places: dict[str, Path], path: str, *more: str) -> str:
    needed = [] if "-o" in more and "-o" in NEEDED.get(path, []) else NEEDED.get(path, [])
    arguments = [word.format(**places) for word in (*path.split(), *needed, *more)]
    done = raf(*arguments)
    lines = [line for line in done.err.splitlines() if line.strip()]
    assert (done.status, done.out, len(lines)) == (2, "", 1), (arguments, done)
    assert lines[0].startswith("raf: ")
    return lines[0]


@pytest.mark.parametrize("fault", EVIDENCE_FAULTS)
@pytest.mark.parametrize("path", OF_EVIDENCE)
def test_evidence_that_is_none(raf: Raf, places: dict[str, Path], path: str, fault: str) -> None:
    given, said = EVIDENCE_FAULTS[fault]
    assert said in one_line(raf, places, path, given)


@pytest.mark.parametrize("path", OF_EVIDENCE)
def test_no_evidence_at_all(raf: Raf, places: dict[str, Path], path: str) -> None:
    one_line(raf, places, path)


@pytest.mark.parametrize(("path", "option"), NUMBERS, ids=" ".join)
def test_what_is_no_number(raf: Raf, places: dict[str, Path], path: str, option: str) -> None:
    assert option in one_line(raf, places, path, option, "three")


@pytest.mark.parametrize("path", OUTPUTS)
def test_a_place_that_cannot_be_written(raf: Raf, places: dict[str, Path], path: str) -> None:
    assert "cannot write" in one_line(raf, places, path, "-o", "{garbage}/below", "{dumps}")


@pytest.mark.parametrize("path", RANKS)
def test_a_rank_that_is_not_there(raf: Raf, places: dict[str, Path], path: str) -> None:
    option = "--explain" if path == "diagnose" else "--rank"
    assert "no rank 99 in this case; it has 0-3" in one_line(raf, places, path, "{dumps}", option, "99")


@pytest.mark.parametrize("path", COMMANDS)
def test_an_option_that_is_not_there(raf: Raf, places: dict[str, Path], path: str) -> None:
    assert f"raf {path} --help" in one_line(raf, places, path, "--nonsense")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nonsense", "No such command 'nonsense'"),
        ("diagnos", "Did you mean 'diagnose'?"),
        ("show {dumps}", "is no command of raf show; there are calls, groups, progress"),
        ("show dumps", "No such command 'dumps'; there are calls, groups, progress"),
        ("show call", "Did you mean"),
        ("lab run --keep {new}", "Missing argument NAME"),
        ("lint --explain nosuch", "no rule 'nosuch'; there are"),
        ("lint --explain guarded_rank_collective", "perhaps rank-guarded-collective"),
        ("{src}x", "perhaps"),
        ("show calls {dumps} --rank three", "--rank"),
        ("show calls {dumps} --group nobody", "no group 'nobody'"),
        ("show calls {dumps} --state asleep", "must be one of"),
        ("show calls {dumps} --seq 9-3", "--seq"),
        ("diagnose {dumps} --attempt 7", "there is 1"),
        ("diagnose {dumps} --src /nowhere", "/nowhere: no such file"),
        ("diagnose {dumps} --git v1", "--git needs --src"),
        ("diagnose {dumps} -o {new}.abc", "the suffix tells the format"),
        ("show calls {dumps} -o {new}.html", "the suffix tells the format: .json, .csv, .parquet, .txt"),
        ("show waits {dumps} -o {new}.svg", "the suffix tells the format: .json, .csv, .parquet, .dot"),
        ("show stacks {dumps} -o {new}.html", "the suffix tells the format: .json, .txt"),
        ("show source {dumps} -o {new}.md", "the suffix tells the format: .json, .txt"),
        ("show evidence {dumps} -o {new}.md", "the suffix tells the format: .json, .txt"),
        ("explain -o {new}.md", "the suffix tells the format: .json, .txt"),
        ("lab list -o {new}.md", "the suffix tells the format"),
        ("lint {src} -o {new}.weird", "the suffix tells the format: .json, .sarif, .xml for JUnit, .txt"),
        ("case pack {dumps} -o {new}.tar.gz", "the suffix tells the format: .zip"),
        ("report {dumps} -o {new}.pdf", "the suffix tells the format: .html"),
        ("diagnose {dumps} --report {new}.pdf", "the suffix tells the format: .html"),
        ("show timeline {dumps} -o {new}.svg", ".csv, .parquet, .tsv or .txt for the table"),
        ("diagnose {dumps} -o {new}.json -o {new}.sarif", "was given twice"),
        ("report {dumps} -o -", "cannot write -: a file beside what is printed is meant"),
        ("case convert {dumps} -o -", "cannot write -: a folder is meant"),
        ("show ring {dumps} -o {new}.md", "the suffix tells the format"),
        ("investigate {dumps} -o {new}.html", "the name of a file; what is written goes into a folder"),
        ("run -o {new}.html -- true", "the name of a file"),
        ("fix {dumps} --src {src} --apply -o {new}.patch", "give one of them"),
        ("show evidence {dumps} D9#9", "no evidence D9#9"),
        ("explain erly_exit", "perhaps early_exit?"),
        ("lab run early_stop_locl", "perhaps early_stop_local"),
        ("lab score --set {empty}", "no incident"),
        ("explore {dumps}", "needs a terminal"),
        ("fr-trace {dumps} --transform-ft", "raf: "),
        ("fr-trace {dumps} -o /nowhere/x", "cannot write"),
        ("fr-trace {dumps} --selected-ranks x", "invalid int value"),
        ("doctor /nowhere", "/nowhere"),
        ("doctor {empty}", "no launch script in it; name the job's files"),
        ("doctor {garbage}", "not a launch script"),
        ("doctor --torch latest", "not a release"),
        ("show ring {garbage}", "not a ring of the recorder"),
        ("show ring {empty}", "no ring of the recorder in"),
        ("show source {dumps} --src {empty}", "no Python file in"),
        ("show evidence {dumps} X99", "no evidence X99"),
        ("case open /nowhere", "/nowhere: no such file"),
        ("case open {empty}", "raf reads it as it is"),
        ("fix {dumps}", "--src"),
        ("fix {dumps} --src /nowhere", "/nowhere: not a folder"),
        ("investigate {dumps} --model nonsense", "'nonsense' is no model"),
        ("diagnose {dumps} --report {garbage}/below", "cannot write"),
        ("fr-trace {empty}", "no file in it"),
        ("fr-trace /nowhere", "/nowhere: no such file"),
        ("attach", "which job?"),
        ("attach --debug-server nonsense", "no debug server answers there"),
        ("top three", "no process id"),
        ("watch --ras nonsense.invalid --once", "nobody answers at nonsense.invalid"),
        ("watch --once --ras localhost:1", "nobody answers at localhost:1"),
        ("lsp more", "unexpected extra argument"),
        ("version more", "unexpected extra argument"),
        ("skill show nonsense", "it has SKILL.md"),
        ("skill install --for nobody", "claude, codex, cursor, vscode"),
        ("lab list --cause nonsense", "no scenario of cause 'nonsense'"),
        ("lab export {garbage}/below", "is a file"),
        ("lab export {new} --only nonsense", "no scenario begins with 'nonsense'"),
        ("lab watch {empty} {new}", "no incidents in"),
        ("lab watch {empty} {garbage}/below", "is a file"),
        ("lab score --set /nowhere", "no incident in /nowhere"),
        ("lab ablate /nowhere", "no incident in /nowhere"),
        ("lab answers /nowhere -o {new}", "no incident in /nowhere"),
        ("lab prove nonsense", "no scenario 'nonsense'"),
        ("lab blind new {garbage}/below", "cannot write"),
        ("lab blind seal {empty}", "no blind set"),
        ("lab blind score {empty}", "no blind set"),
        ("lab blind check {empty} case", "no blind set"),
        ("lab blind lint {empty}", "no blind set"),
        ("lab blind reveal {empty}", "no blind set"),
        ("mcp /nowhere", "/nowhere"),
        ("show ring /nowhere", "/nowhere"),
        ("attach 4194399", "no process"),
        ("attach train.py", "raf attach $(pgrep -f train.py)"),
        ("top train.py", "raf top $(pgrep -f train.py)"),
        ("attach 1 -o {garbage}/below", "cannot write"),
        ("control run -o {garbage}/below -- train.py", "cannot write"),
        ("control worker node0", "a host is given as HOST:PORT, not 'node0'"),
        ("control worker 0.0.0.0:7400", "give certificates with --tls"),
        ("control worker 127.0.0.1:7400 --tls {empty}", "no certificates in"),
        ("run -o {garbage}/below -- true", "cannot write"),
        ("run --src /nowhere -- true", "/nowhere: no such file"),
        ("run --stall three -- true", "--stall"),
        ("run --tower nowhere -- true", "http://"),
        ("run --notify ftp://x/y -- true", "http://"),
        ("run -- /no/such/program", "cannot run /no/such/program"),
        ("run", "Missing argument"),
        ("tower nowhere", "neither a port nor HOST:PORT"),
        ("tower --store {garbage} 0", "not a database"),
        ("tower 0.0.0.0:0", "--token-file"),
        ("top --once --metrics /nowhere/x", "cannot write /nowhere/x"),
        ("top 4194399", "no process"),
        ("lint {empty}", "no Python there"),
        ("lint {garbage}", "no Python there"),
        ("lint {dumps}", "no Python there"),
        ("lint /nowhere", "/nowhere: no such file"),
        ("lint {src} --baseline {garbage}", "no baseline of raf lint"),
        ("lint {src} --select rank-guarded", "perhaps rank-guarded-collective"),
    ],
)
def test_other_mistakes(raf: Raf, places: dict[str, Path], arguments: str, said: str) -> None:
    assert said in one_line(raf, places, arguments)


def test_every_command_has_a_mistake_of_its_own_here() -> None:
    """Besides an option that is not there: one that is made with what it takes."""
    tried = {*OF_EVIDENCE, *OUTPUTS, *(path for path, _ in NUMBERS)}
    others = [mark.args[1] for mark in test_other_mistakes.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    for words in (case[0] for cases in others for case in cases):
        tried |= {path for path in COMMANDS if f"{words} ".startswith(f"{path} ")}
    assert tried >= {*COMMANDS}


@pytest.mark.parametrize(
    ("text", "said"),
    [("sorces = 1", "no setting 'sorces'"), ("src = 1", "a word or a list of words"), ("src", "raf.toml")],
)
def test_what_a_project_says_wrongly(
    raf: Raf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (tmp_path / "raf.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    done = raf("diagnose", EARLY_STOP / "evidence")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert said in done.err


@pytest.mark.parametrize("arguments", ["", "lab"])
def test_no_command_is_help_and_status_2(raf: Raf, arguments: str) -> None:
    done = raf(*arguments.split())
    assert done.status == 2
    assert done.out.count("Usage: raf") == 1


BROKEN = (
    "import sys, rankandfile.pipeline as p\n"
    "def run(*a, **k): raise KeyError('colour')\n"
    "p.run = run\n"
    "from rankandfile.cli.main import main\n"
    "main()\n"
)


@pytest.mark.parametrize("traceback", [False, True])
def test_a_mistake_of_ours_is_no_verdict(traceback: bool) -> None:
    words = ["diagnose", str(EARLY_STOP / "evidence"), *(["--traceback"] if traceback else [])]
    done = subprocess.run([sys.executable, "-c", BROKEN, *words], capture_output=True, text=True, check=False)
    if traceback:
        assert done.stderr.startswith("Traceback")
    else:
        assert done.stderr.count("\n") == 1
    line = done.stderr.splitlines()[-1]
    assert (
        "raf itself failed: KeyError: 'colour'" in line
        and "--traceback" in line
        and "please report it" in line
    )
    assert done.returncode == 70


@pytest.mark.parametrize(
    "command",
    in_lab(
        ["show calls {0} -n 0", "{0}", "{0} --format json", "--help", "show stacks {0}"],
        ("show calls {0} -n 0", "--help"),
    ),
)
def test_a_closed_pipe_is_silent_and_no_verdict(command: str) -> None:
    words = f"{sys.executable} -m rankandfile {command.format(EARLY_STOP / 'evidence')}"
    # Whoever reads is gone before the first word comes.
    script = f"{words} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    assert done.stdout == "141\n"


def test_an_interrupt_is_one_line(tmp_path: Path) -> None:
    """And of what came from the pipe nothing stays."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rankandfile", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    while not [*tmp_path.glob("raf-*/stdin")]:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "raf: interrupted\n")
    assert [*tmp_path.iterdir()] == []


def test_an_interrupt_while_raf_is_still_loading_is_one_line() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "import runpy; runpy.run_module('rankandfile', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "raf: interrupted\n")


def test_version(raf: Raf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankandfile.evidence.flight.native.native", lambda: Native(None, ""))
    for words in ("--version", "-V"):
        assert raf(words).out == f"raf {__version__}\n"
    assert raf("version").out.startswith(f"raf {__version__}, Python ")


def test_the_version_names_the_recorder_that_a_job_would_have(
    raf: Raf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without loading torch: only the file that tells its version is looked at."""
    (torch := tmp_path / "torch").mkdir()
    (torch / "__init__.py").write_text("raise ImportError('loaded')\n")
    (torch / "version.py").write_text("__version__ = '9.9.1+cpu'\n")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("RAF_CACHE_DIR", str(tmp_path / "cache"))
    assert raf("version").out.endswith(", recorder in Python\n")
    library = native.library()
    library.parent.mkdir(parents=True)
    library.touch()
    assert raf("version").out.endswith(", native recorder\n")
    (torch / "version.py").write_text("__version__ = '9.9.2+cpu'\n")
    assert raf("version").out.endswith(", recorder in Python\n"), "it was built for another torch"


@pytest.mark.parametrize(
    "command",
    ["diagnose", "case convert", "show calls", "show groups", "show progress", "lab run", "explain"],
)
def test_help_shows_examples(raf: Raf, command: str) -> None:
    done = raf(*command.split(), "--help")
    assert done.status == 0
    assert f"raf {command} " in done.out.partition("Examples:")[2]


@pytest.mark.parametrize("path", COMMANDS)
def test_help_says_all_that_the_page_says(raf: Raf, path: str) -> None:
    """Nothing of it is taken for markup (`rankandfile[tower]` is a name), and Python's types are nobody's business."""
    shown = raf(*path.split(), "--help").out
    said = " ".join(shown.split())
    for paragraph in COMMANDS[path].told.split("\n\n"):
        assert paragraph in said
    for one in COMMANDS[path].parameters:
        assert one.told in said and one.metavar in said
    assert not re.search(r"<\w+>|│", shown)


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("words", ["", "show", "diagnose", "run"])
def test_help_is_as_wide_as_the_terminal(
    raf: Raf, monkeypatch: pytest.MonkeyPatch, words: str, width: int
) -> None:
    """But for commands of the examples, which are copied."""
    monkeypatch.setenv("COLUMNS", str(width))
    text, _, examples = raf(*words.split(), "--help").out.partition("Examples:\n")
    beside = [line for line in examples.splitlines() if not re.match(r"  raf\b(?!.*  )", line)]
    assert max(map(len, [*text.splitlines(), *beside])) <= min(width, 100)
    assert "\n\n" not in examples.strip(), "one below the other"
