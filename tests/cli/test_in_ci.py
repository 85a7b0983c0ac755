"""Where nobody types: the GitHub Action, the epilog of Slurm and the sidecar of a pod, run as they are there."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.capture.stand_ins import JOB
from support.capture.waiting import until
from support.places import DOCS, EARLY_STOP, EXAMPLES, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with this `raf` first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    raf = folder / "raf"
    raf.write_text(f'#!/bin/sh\nexec {sys.executable} -m rankandfile "$@"\n')
    raf.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_the_action_is_one_by_the_schema_of_actions() -> None:
    schemas = pytest.importorskip("check_jsonschema").__path__[0]
    jsonschema = pytest.importorskip("jsonschema")
    schema = Path(schemas, "builtin_schemas", "vendor", "github-actions.json")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert [
        error.message
        for error in jsonschema.Draft7Validator(json.loads(schema.read_text())).iter_errors(action)
    ] == []
    used = {word for step in action["runs"]["steps"] for word in step.get("env", {})}
    script = (ROOT / ".ci" / "action").read_text()
    assert all(word in script for word in used)


def test_every_extra_that_is_asked_for_is_there() -> None:
    """Of one that is not, pip only warns."""
    begins = "[project.optional-dependencies]\n"
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition(begins)[2].partition("\n[")[0]
    extras = set(re.findall(r"^([a-z-]+) = \[", text, re.MULTILINE))
    asked = re.compile(r"(?:rankandfile|ACTION_PATH)\[([a-z][a-z,-]*)\]")
    files = [ROOT / "action.yml", ROOT / "pyproject.toml", *(ROOT / "docs").rglob("*.md")]
    for path in [*files, *(ROOT / "src" / "rankandfile" / "cli").rglob("*.py"), *EXAMPLES.rglob("*.y*ml")]:
        for found in asked.findall(path.read_text(encoding="utf-8")):
            assert {*found.split(",")} <= extras, path


def test_what_is_installed_with_it_has_a_highest_release_wherever_releases_say_what_breaks() -> None:
    """Torch is the job's own, the clients of object stores are numbered by dates, and tomli is a standard's reader."""
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = {*project["dependencies"], *(one for extra in extras.values() for one in extra)} - {
        *extras["objects"]
    }
    without = {
        one for one in asked if "<" not in one.partition(";")[0] and not one.startswith("rankandfile[")
    }
    assert without == {"torch>=2.3", "tomli>=2; python_version < '3.11'"}


@pytest.mark.parametrize(("fail", "status"), [("true", 1), pytest.param("false", 0, marks=pytest.mark.lab)])
def test_the_action_annotates_sums_up_and_tells_the_steps_after_it(
    fail: str, status: int, path: str, tmp_path: Path
) -> None:
    repository = tmp_path / "repository"
    shutil.copytree(EARLY_STOP / "src", repository / "train")
    (repository / ".git").mkdir()
    env = {
        **os.environ, "PATH": path, "RAF_PATHS": f"{EARLY_STOP}/evidence/dumps/*\n\n{EARLY_STOP}/evidence/logs\n",
        "RAF_SRC": "train", "RAF_HUNG": "false", "RAF_FAIL": fail, "RAF_OUTPUT": "out folder",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    done = subprocess.run([ROOT / ".ci" / "action"], cwd=repository, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    files = [line.partition("file=")[2].partition(",")[0] for line in done.stdout.splitlines()]
    assert files[0] == "train/trainer.py" and set(files) <= {"train/trainer.py", "train/parallel.py"}
    assert (tmp_path / "summary").read_text().startswith("## HANG: rank 2 left early")
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert told["hang"] == "true" and (repository / told["report"]).stat().st_size > 1000
    places = json.loads((repository / told["sarif"]).read_text())["runs"][0]["results"][0]["locations"]
    assert places[0]["physicalLocation"]["artifactLocation"]["uri"] == "train/trainer.py"


def test_the_action_says_what_it_cannot_read(path: str, tmp_path: Path) -> None:
    env = {
        **os.environ, "PATH": path, "RAF_PATHS": "nothing/*", "RAF_SRC": "", "RAF_HUNG": "false", "RAF_FAIL": "true",
        "RAF_OUTPUT": "out", "GITHUB_STEP_SUMMARY": "summary", "GITHUB_OUTPUT": "output",
    }  # fmt: skip
    done = subprocess.run([ROOT / ".ci" / "action"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 2 and "nothing/*: no such file" in done.stderr, done.stderr


def test_slurms_epilog_leaves_the_verdict_beside_the_dumps_and_never_fails(path: str, tmp_path: Path) -> None:
    hang = tmp_path / "hangs" / "812345"
    shutil.copytree(EARLY_STOP / "evidence" / "dumps", hang)
    env = {"SLURM_JOB_ID": "812345", "SLURM_JOB_WORK_DIR": str(tmp_path), "RAF": path.split(":")[0] + "/raf"}
    epilog = EXAMPLES / "slurm" / "epilog.sh"
    for _node in range(2):
        done = subprocess.run([epilog], env=env | {"RAF_WAIT": "0"}, cwd="/", capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "rank 2" in (hang / "verdict" / "verdict.txt").read_text().lower()
    assert (hang / "verdict" / "report.html").stat().st_size > 1000
    healthy = subprocess.run([epilog], env=env | {"SLURM_JOB_ID": "812346"}, capture_output=True, text=True)
    assert (healthy.returncode, healthy.stdout, healthy.stderr) == (0, "", "")
    assert not (tmp_path / "hangs" / "812346").exists()


def test_slurms_epilog_asks_slurm_where_the_job_ran_and_reads_as_its_user(path: str, tmp_path: Path) -> None:
    """With stand-ins for Slurm's `scontrol` and for `runuser`, before all that is on the path that the epilog sets."""
    hang = tmp_path / "hangs" / "812345"
    shutil.copytree(EARLY_STOP / "evidence" / "dumps", hang)
    (tmp_path / "train-812345.out").write_text((EARLY_STOP / "evidence" / "logs" / "rank_2.log").read_text())
    (tmp_path / "train-1812345.out").write_text("[rank7]: CUDA out of memory\n")
    job = tmp_path / "job.txt"
    job.write_text(
        JOB.format(state="FAILED", output="train-812345.out").replace("/home/me\n", f"{tmp_path}\n")
    )
    read = tmp_path / "read"
    raf = tmp_path / "bin" / "raf"
    raf.write_text(f'#!/bin/sh\necho "$SAID_BY" "$@" > {read}\nexec {sys.executable} -m rankandfile "$@"\n')
    env = {
        "SLURM_JOB_ID": "812345", "SLURM_JOB_USER": "me", "RAF": str(raf), "RAF_WAIT": "0",
        "BASH_FUNC_id%%": "() { [ -n \"$SAID_BY\" ] && echo 1000 || echo 0; }",
        "BASH_FUNC_runuser%%": '() { [ "$1 $3" = "-u --" ] && SAID_BY=$2 "${@:4}"; }',
        "BASH_FUNC_scontrol%%": f'() {{ [ "$*" = "show job 812345" ] && cat {job}; }}',
    }  # fmt: skip
    done = subprocess.run(
        [EXAMPLES / "slurm" / "epilog.sh"], env=env, cwd="/", capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (hang / "verdict" / "verdict.txt").read_text().startswith("HANG: rank 2 left early")
    user, _, *evidence = read.read_text().partition(" --report")[0].split()
    assert (user, evidence) == ("me", [str(hang), str(tmp_path / "train-812345.out")])


@pytest.fixture
def container(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """What the sidecar finds among the pod's processes."""
    code = f"import time; time.sleep(600)  # train-{tmp_path.name}.py"
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "RANK": "0"})
    with process:
        yield process
        process.kill()


@pytest.fixture
def pod(path: str, tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """What a kubelet would start as the sidecar of the pod, and with what: the manifest as it is there."""
    manifest = yaml.safe_load((EXAMPLES / "kubernetes" / "pod.yaml").read_text())
    train, sidecar = manifest["spec"]["containers"]
    volumes = {volume["name"] for volume in manifest["spec"]["volumes"]}
    (tmp_path / "dumps").mkdir()
    folders = {"/dumps": str(tmp_path / "dumps"), "/raf": str(EXAMPLES / "kubernetes")}
    mounts = {mount["mountPath"]: mount["name"] for mount in sidecar["volumeMounts"]}
    assert mounts.keys() == folders.keys() and {*mounts.values()} <= volumes

    def there(text: str) -> str:
        return re.sub(
            r"^/(dumps|raf)\b", lambda mount: folders[mount[0]], text.replace("$(POD_UID)", "uid-1")
        )

    given = {
        one["name"]: there(one["value"])
        for container in (sidecar, train)
        for one in container["env"]
        if "value" in one
    }
    # What the one writes is what the other reads.
    assert Path(given["TORCH_FR_DUMP_TEMP_FILE"]).parent == Path(given["DUMPS"])
    return [there(word) for word in sidecar["command"]], {
        **os.environ, **given, "PATH": path, "MATCH": f"train-{tmp_path.name}.py", "EVERY": "0.2", "SETTLE": "0.5"
    }  # fmt: skip


def asks_now(env: dict[str, str]) -> None:
    """The command of the page, as kubectl hands it to the container."""
    page = (DOCS / "kubernetes.md").read_text()
    begins = "kubectl exec train-0 -c raf -- "
    (line,) = [line for line in page.splitlines() if line.startswith(begins)]
    subprocess.run(shlex.split(line.removeprefix(begins)), env=env, check=True)


@contextlib.contextmanager
def beside(
    container: subprocess.Popen[bytes], pod: tuple[list[str], dict[str, str]], **more: str
) -> Iterator[subprocess.Popen[str]]:
    """The sidecar, once it has begun; it ends after the container."""
    command, env = pod
    with subprocess.Popen(command, env=env | more, stdout=subprocess.PIPE, text=True) as sidecar:
        try:
            until(Path(env["DUMPS"]).exists)
            yield sidecar
        finally:
            container.kill()
            container.wait()


def test_the_sidecar_answers_dumps_and_whoever_asks(
    container: subprocess.Popen[bytes], pod: tuple[list[str], dict[str, str]]
) -> None:
    dumps = Path(pod[1]["DUMPS"])
    with beside(container, pod) as sidecar:
        for dump in (EARLY_STOP / "evidence" / "dumps").iterdir():
            shutil.copy2(dump, dumps)
        until(lambda: list(dumps.glob("verdicts/*-dumped/report.html")))
        asks_now(pod[1])
        until(lambda: list(dumps.glob("verdicts/*-asked/case/diagnosis.json")))
        container.kill()
        container.wait()
        said = sidecar.communicate(timeout=60)[0]
    assert "HANG: rank 2 left early" in said and "1 process" in said, said
    assert len(list(dumps.glob("verdicts/*-dumped"))) == 1


def test_the_sidecar_looks_once_more_when_the_job_is_gone(
    container: subprocess.Popen[bytes], pod: tuple[list[str], dict[str, str]]
) -> None:
    """A watchdog ends the job that it has dumped."""
    with beside(container, pod, EVERY="4") as sidecar:
        # It sleeps until the next look.
        until(lambda: "sleep\x004\x00" in children(sidecar.pid))
        for dump in (EARLY_STOP / "evidence" / "dumps").iterdir():
            shutil.copy2(dump, pod[1]["DUMPS"])
        container.kill()
        container.wait()
        said = sidecar.communicate(timeout=60)[0]
    assert said.startswith("HANG: rank 2 left early"), said


def children(pid: int) -> str:
    """The command lines of the processes that it waits for."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        # It may be over.
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{child}/cmdline").read_text())
    return "\n".join(found)
