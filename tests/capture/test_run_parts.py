"""The parts of `raf run` that need no torch: patience, injection, streams, exit codes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rankandfile.capture.launch.environment import INJECT, cannot_inject, job_environment
from rankandfile.capture.launch.streams import Kept
from rankandfile.capture.watch.rings import Seen
from rankandfile.capture.watch.stall import AT_FIRST, Stall

pytestmark = pytest.mark.slow

RAF = [sys.executable, "-m", "rankandfile", "run"]


def ring(calls: int, *, waits: bool = True, lives: bool = True) -> Seen:
    return Seen(Path("ring"), 0, 1, 1, 0, "", lives, False, ((calls, 0, 0),), calls, waits)


def test_a_stall_is_told_once() -> None:
    stall = Stall(0.0, 3.0)
    assert [stall.feed(at, [ring(1)]) for at in (0.0, 2.9, 3.1, 9.0)] == [False, False, True, False]
    assert not stall.feed(10.0, [ring(2)])
    assert stall.feed(13.5, [ring(2)])


def test_nobody_lives_no_stall() -> None:
    stall = Stall(0.0, 3.0)
    assert not any(stall.feed(float(at), [ring(1, lives=False)]) for at in range(20, 40))


def test_where_nobody_waits_it_takes_more_patience() -> None:
    stall = Stall(0.0, 3.0)
    assert not any(stall.feed(float(at), [ring(1, waits=False)]) for at in range(9))
    assert stall.feed(9.5, [ring(1, waits=False)])


def test_before_the_first_call_it_takes_most() -> None:
    stall = Stall(0.0)
    assert not any(stall.feed(float(at), [ring(0, waits=False)]) for at in range(60))
    assert stall.feed(61.0, [ring(0, waits=False)])


def test_patience_grows_with_the_pauses_of_the_job() -> None:
    stall = Stall(0.0)
    stall.feed(0.0, [ring(1)])
    assert stall.patience == AT_FIRST
    stall.feed(8.0, [ring(2)])
    assert stall.patience == 40.0
    assert not stall.feed(47.0, [ring(2)])
    assert stall.feed(48.5, [ring(2)])


def test_an_undecided_stall_is_looked_at_again_later() -> None:
    stall = Stall(0.0, 3.0)
    stall.feed(0.0, [ring(1)])
    assert stall.feed(4.0, [ring(1)])
    stall.undecided()
    assert not stall.feed(7.0, [ring(1)])
    assert stall.feed(8.5, [ring(1)])


def test_a_log_stays_small(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "log", part=100)
    for number in range(100):
        kept.write(f"{number:9}\n".encode())
    kept.close()
    whole = (tmp_path / "log.before").read_bytes() + (tmp_path / "log").read_bytes()
    assert whole.endswith(b"       99\n") and len(whole) < 250


def test_the_users_settings_stand() -> None:
    made = job_environment(
        {"NCCL_DEBUG": "INFO", "PYTHONPATH": "lib", "TORCH_FR_DUMP_TEMP_FILE": "mine"},
        Path("r"),
        Path("d"),
        5,
    )
    assert made["NCCL_DEBUG"] == "INFO" and "TORCH_NCCL_DEBUG_INFO_TEMP_FILE" not in made
    assert made["PYTHONPATH"] == f"{INJECT}{os.pathsep}lib"
    assert made["TORCH_NCCL_DUMP_ON_TIMEOUT"] == "1"
    assert cannot_inject({"RAF": "0"}) and not cannot_inject({})


def injected(tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    env = job_environment({**os.environ, "PYTHONPATH": str(tmp_path)}, tmp_path, tmp_path, os.getpid())
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def test_the_users_sitecustomize_works(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.users_own = True")
    done = injected(
        tmp_path,
        "import sys, sitecustomize; print(sys.users_own, sitecustomize.__file__, 'rankandfile' in sys.modules)",
    )
    assert done.stdout.split() == ["True", str(tmp_path / "sitecustomize.py"), "False"], done.stderr


def test_without_a_sitecustomize_of_the_user(tmp_path: Path) -> None:
    done = injected(tmp_path, "import sys; print([p for p in sys.path if 'inject' in p])")
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_job_without_the_package_records_too(tmp_path: Path) -> None:
    """Its Python need not be the one that `raf` is installed in."""
    hide = (
        "import sys, sitecustomize, importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'rankandfile' else find(name, *a)\n"
        "import importlib.machinery, runpy\n"
        f"module = runpy.run_path({str(INJECT / 'sitecustomize.py')!r})\n"
        "module['_load_package']()\n"
        "import rankandfile.runtime.injected as it\n"
        "print(it.__file__)"
    )
    done = injected(tmp_path, hide)
    assert done.stdout.strip() == str(INJECT.parent / "injected.py"), done.stderr


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 9", 9), ("kill -TERM $$", 143)])
def test_exit_codes_pass_through(tmp_path: Path, script: str, code: int) -> None:
    done = subprocess.run(
        [*RAF, "--", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert "nothing was recorded" in done.stderr
    assert list(tmp_path.iterdir()) == []


#: What neither hears that it is to end, nor lets its child hear it.
STUBBORN = """
import os, sys, time
from pathlib import Path
import rankandfile.capture.launch.job as capture
from rankandfile.capture.watch import processes
from rankandfile.capture.launch.output import Output
from rankandfile.capture.launch.signals import held_back
capture.KILL_AFTER_S = 0.3
folder = Path(sys.argv[1])
output = Output(folder, folder)
held = held_back()
command = ["sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait; sleep 600"]
job = capture.Job(command, os.environ, output, held.__enter__())
while not (told := (folder / "stdout.log").read_text()).endswith("\\n"):
    job.wait(0.05)
job.end()
while (code := job.wait(0.1)) is None:
    pass
job.finish(code)
left = processes.status(int(told))
print(code, left is None or left.state in "ZX")
"""


def test_a_job_that_does_not_want_to_end_is_killed(tmp_path: Path) -> None:
    """Its code says so: a job that hung has not ended well."""
    done = subprocess.run(
        [sys.executable, "-c", STUBBORN, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[1:] == ["-9 True"], done.stdout + done.stderr


def test_no_thread_but_the_main_one_takes_signals_from_the_job(tmp_path: Path) -> None:
    """A library starts threads as it is loaded. A signal that one of them takes ends the watcher, and not the job."""
    code = "import os, signal, time; print(os.getppid(), signal.pthread_sigmask(signal.SIG_BLOCK, []), flush=True)"
    script = f"{code}\nos.read(0, 1)"
    process = subprocess.Popen(
        [*RAF, "--", sys.executable, "-c", script],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    watcher, _, blocked = process.stdout.readline().decode().partition(" ")
    assert blocked == "set()\n"
    statuses = [path.read_text() for path in Path(f"/proc/{watcher}/task").glob("*/status")]
    masks = [int(text.partition("SigBlk:")[2].split()[0], 16) for text in statuses]
    assert len(masks) > 1
    # The main thread waits for them, and shows none as blocked meanwhile.
    assert sum(not mask >> (signal.SIGTERM - 1) & 1 for mask in masks) <= 1
    process.stdin.close()
    assert process.wait(60) == 0


def test_streams_pass_through_byte_for_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) * 2000
    done = subprocess.run([*RAF, "--", "cat"], cwd=tmp_path, input=data, capture_output=True, check=False)
    assert done.stdout == data


def test_no_place_for_rings_and_the_job_runs(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = {**os.environ, "RAF_RING_DIR": str(tmp_path / "file")}
    done = subprocess.run([*RAF, "--", "echo", "hello"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert done.stderr.count("\n") == 1 and "runs without the recorder" in done.stderr


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    done = subprocess.run([*RAF, "--", "no-such-command"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "cannot run no-such-command" in done.stderr


def test_a_job_on_a_terminal_sees_a_terminal(tmp_path: Path) -> None:
    ours, its = pty.openpty()
    code = "import os; print(os.isatty(0), os.isatty(1), os.isatty(2))"
    process = subprocess.Popen(
        [*RAF, "--", sys.executable, "-c", code], stdin=its, stdout=its, stderr=subprocess.DEVNULL
    )
    os.close(its)
    assert process.wait(60) == 0
    assert os.read(ours, 1000).strip() == b"True True False"
    os.close(ours)


def test_where_the_recorder_cannot_come_in_that_is_said_and_the_job_runs(tmp_path: Path) -> None:
    env = {**os.environ, "RANK": "0"}
    # As long as it takes to be looked for.
    code = "import time; print('ran'); time.sleep(3)"
    python = [sys.executable, "-c", code]
    expected = {
        "started with -I, which": [sys.executable, "-I", "-c", code],
        "started with -I, which keeps": [
            *("sh", "-c", 'sleep 2; exec "$@"', "sh"),
            *(sys.executable, "-I", "-c", code),
        ],
        "started with -E, which": [sys.executable, "-BE", "-c", code],
        "started without the variables": ["env", "-i", "RANK=0", *python],
        "started without the variables of the job": ["env", "-i", *python],
        "": python,
    }
    running = {
        why: subprocess.Popen(
            [*RAF, "--", *command],
            env=env,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for why, command in expected.items()
    }
    for why, process in running.items():
        out, said = process.communicate(timeout=300)
        assert (process.returncode, out) == (0, "ran\n")
        assert (
            ("nothing was recorded" in said and f": Python was {why}" in said)
            if why
            else "was started" not in said
        )
