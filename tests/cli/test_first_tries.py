"""What somebody types first, who has read nothing: it works, or says what would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP, ROOT

from rankandfile import __version__, listing
from rankandfile.cli.typed.first_word import understood

pytestmark = pytest.mark.slow

EVIDENCE = EARLY_STOP / "evidence"
MODULES = set(listing.names("rankandfile.cli.commands"))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("dumps/", "diagnose dumps/"),
        ("dumps/ logs/ --src .", "diagnose dumps/ logs/ --src ."),
        ("-v dumps/", "diagnose -v dumps/"),
        ("- --hung", "diagnose - --hung"),
        ("gs://bucket/job", "diagnose gs://bucket/job"),
        ("help", "--help"),
        ("help show calls", "show calls --help"),
        ("fr-trace dumps", "fr-trace dumps"),
        ("show divergence dumps/ --rank 2", "show cohorts dumps/ --rank 2"),
        ("--version", "--version"),
        ("dignose dumps", "dignose dumps"),
        ("dumps.zip logs", "diagnose dumps.zip logs"),
    ],
)
def test_a_command_that_is_left_out(words: str, meant: str) -> None:
    assert understood(words.split(), MODULES) == meant.split()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("4711", "raf attach 4711"),
        ("torchrun --nproc-per-node 2 train.py", "raf run -- torchrun --nproc-per-node 2 train.py"),
        ("python3 train.py", "raf run -- python3 train.py"),
        ("trian.py", "trian.py: no such file or directory"),
        ("incident", "No such command 'incident', and no file or folder of that name here"),
        ("attach", "which job?"),
        ("calls dumps -n 5", "there is raf show calls dumps -n 5"),
        ("stacks", "there is raf show stacks"),
        ("pack dumps", "there is raf case pack dumps"),
        ("score", "there is raf lab score"),
        ("diagnose dumps --json", "there is --format json"),
        ("show calls dumps --csv", "there is --format csv"),
        (EARLY_STOP / "src" / "train.py", "source is read by raf lint"),
    ],
)
def test_what_was_meant_is_said(raf: Raf, words: str | Path, said: str) -> None:
    done = raf(*str(words).split())
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


def test_an_empty_table_says_that_it_is_empty(raf: Raf, tmp_path: Path) -> None:
    (tmp_path / "rank0.log").write_text("RuntimeError: NCCL communicator was aborted on rank 0.\n")
    done = raf("show", "calls", tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "no calls to show" in done.err


def test_paths_alone_are_diagnosed(raf: Raf) -> None:
    assert raf(EVIDENCE) == raf("diagnose", EVIDENCE)


@pytest.mark.parametrize("program", [[sys.executable, "-m", "rankandfile"]])
def test_standard_input_is_read(program: list[str], tmp_path: Path) -> None:
    """A log of all ranks, as `kubectl logs` gives it; and an archive."""
    archive = subprocess.run(["tar", "c", "-C", EVIDENCE, "dumps"], capture_output=True, check=True).stdout
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [*program, "-", "-f", "json"], input=archive, capture_output=True, env=env, check=False
    )
    assert done.returncode == 1, done.stderr
    assert [one["rank"] for one in json.loads(done.stdout)["verdicts"][0]["culprits"]] == [2]
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [("", "standard input: nothing came"), ("hello\n", "standard input: nothing there tells")],
)
def test_standard_input_is_called_so(given: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", "-"], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"raf: {said}") and "/" not in done.stderr


def test_a_log_with_nothing_but_watchdogs(raf: Raf, tmp_path: Path) -> None:
    """What most people have first: who waits in what, who is missing, and what to do next, each once."""
    line = (
        "[rank{0}]: [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE, "
        "NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n"
    )
    (tmp_path / "job.log").write_text("".join(line.format(rank) for rank in (0, 2, 3)))
    done = raf(tmp_path / "job.log")
    said = " ".join(done.out.split())
    assert done.status == 3 and done.out.startswith("HANG: cause open")
    assert said.count("Ranks 0, 2 and 3 wait in the all_reduce") == 1 and "ALLREDUCE" not in said
    assert "of not named" not in said
    assert (
        "stands rank 1 ▸ not known: nothing of it was found next the calls of every rank: raf attach PID"
        in said
    )


def test_every_name_of_the_program_is_the_program() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in ("raf", "rankandfile"):
        assert f'{name} = "rankandfile.cli.main:main"' in text
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile", "-V"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[:2] == ["raf", __version__]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("raf explain early", "early_exit"),
        pytest.param("raf lab run early_stop", "early_stop_local", marks=pytest.mark.lab),
        pytest.param("raf lab run early-stop-3", "early-stop-3d", marks=pytest.mark.lab),
        ("raf diag", "diagnose"),
        ("raf skill install --for co", "codex"),
        pytest.param("raf lint --explain uns", "unsynced-stop-flag", marks=pytest.mark.lab),
    ],
)
def test_tab_completes(line: str, offered: str) -> None:
    words = {"_RAF_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "rankandfile"],
        env={**os.environ, **words},
        capture_output=True,
        text=True,
        check=True,
    )
    assert offered in done.stdout.splitlines()


def test_a_cause_is_explained(raf: Raf) -> None:
    for said in ("early_exit", "EARLY EXIT", "early-exit"):
        done = raf("explain", said)
        assert done.status == 0
        assert "What to do" in done.out and "guard.agree" in done.out
    assert "order_inversion" in raf("explain").out


def test_a_project_says_it_once(raf: Raf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    text = f'[project]\nname = "x"\n[tool.raf]\nsrc = ["{EARLY_STOP / "src"}"]\ndumps = "{EVIDENCE}"\n'
    (tmp_path / "pyproject.toml").write_text(text)
    monkeypatch.chdir(tmp_path / "below")
    done = raf("diagnose")
    assert done.status == 1 and raf() == done, "no command is left to name, either"
    assert "trainer.py:40" in done.out, "its source, too"
    assert "broadcast #85 trainer.py:59 (DDP may broadcast buffers)" in done.out, (
        "no line there says broadcast"
    )


def test_a_file_gets_all_of_it_in_the_format_of_its_name(raf: Raf, tmp_path: Path) -> None:
    for name, begins in {"a.json": "{", "a.sarif": "{", "a.md": "## ", "a.html": "<!doctype"}.items():
        done = raf(EVIDENCE, "-o", tmp_path / name)
        assert (done.status, "rank 2" in done.out.splitlines()[0]) == (1, True)
        assert (tmp_path / name).read_text().startswith(begins)
    for name in ("calls.csv", "calls.txt"):
        assert raf("show", "calls", EVIDENCE, "-o", tmp_path / name).status == 0
        lines = (tmp_path / name).read_text().splitlines()
        assert len(lines) == 343
        assert not any("─" in line or "…" in line for line in lines)


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
@pytest.mark.parametrize(
    "words", ["diagnose -f markdown", "show calls -f csv", "show waits", "show evidence"]
)
def test_standard_output_is_where_it_is_printed_anyway(raf: Raf, words: str, output: str) -> None:
    (*command,) = words.split()
    assert raf(*command, EVIDENCE, "-o", output).out == raf(*command, EVIDENCE).out


@pytest.mark.parametrize("words", ["--help", "diagnose --help", "nonsense", "diagnose --nonsense"])
def test_help_and_mistakes_load_nothing_heavy(words: str) -> None:
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('LOADED', sorted({'polars', 'numpy', 'jinja2', 'torch'} & set(sys.modules))))\n"
        "from rankandfile.cli.main import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split()], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "LOADED []"


@pytest.mark.parametrize("names", [["standard input"], ["a/dump", "b/dump"]])
def test_a_dump_whose_name_tells_no_rank_is_said_to_be_one(tmp_path: Path, names: list[str]) -> None:
    """`cat DUMP | raf -`: that there is no dump would send one to look for what is in one's hand."""
    given = b""
    if names == ["standard input"]:
        given, words = (EVIDENCE / "dumps" / "nccl_trace_rank_0").read_bytes(), ["-"]
    for rank, name in enumerate(names if not given else ()):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes((EVIDENCE / "dumps" / f"nccl_trace_rank_{rank}").read_bytes())
        words = [str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "rankandfile", *words], input=given, capture_output=True)
    said = " ".join(done.stdout.decode().split())
    which = "The one dump here" if given else "Each of the 2 dumps here"
    assert f"{which} was set aside: nothing tells its rank" in said
    assert "no dump used" in said and "no dumps" not in said
    next_step = said.partition(" next ")[2]
    assert next_step.startswith(f"whose dump{'s these are' if not given else ' this is'}: name each file")
