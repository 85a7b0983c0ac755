"""`raf doctor` at the keyboard: what it reads, how it answers, how it exits."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

GOOD = (
    "TORCH_FR_BUFFER_SIZE=2000\nTORCH_NCCL_DUMP_ON_TIMEOUT=1\nPYTHONFAULTHANDLER=1\nNCCL_DEBUG=WARN\n"
    "TORCH_FR_DUMP_TEMP_FILE=/scratch/hangs/812345/nccl_trace_rank_\n"
    "TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/tmp/fr_812345_rank_\n"
)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "job.env"
    path.write_text(GOOD)
    return path


def test_nothing_to_mend_is_status_0(raf: Raf, good: Path) -> None:
    done = raf("doctor", good, "--torch", "2.13")
    assert done.status == 0, done.out
    assert done.out.startswith("the next hang can be diagnosed: ")
    assert done.out.count("\n") == 1
    assert "keeps the last 2000 calls" in raf("doctor", good, "--torch", "2.13", "-v").out


def test_a_finding_is_one_line_with_its_place_and_its_fix(raf: Raf, tmp_path: Path) -> None:
    script = tmp_path / "train.sbatch"
    script.write_text(
        "#!/bin/bash\n#SBATCH -N 2\nexport TORCH_NCCL_TRACE_BUFFER_SIZE=2097152\nsrun python train.py\n"
    )
    done = raf("doctor", script, "--torch", "2.6")
    assert done.status == 1
    (line,) = [line for line in done.out.split("\n") if "2097152" in line]
    assert line.startswith(f"harmful  {script}:3: ")
    assert line.endswith("-> TORCH_NCCL_TRACE_BUFFER_SIZE=2000")


def test_json_holds_the_same(raf: Raf, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("CUDA_LAUNCH_BLOCKING=1 torchrun train.py\n")
    done = raf("doctor", script, "--torch", "2.13", "--format", "json")
    answer = json.loads(done.out)
    assert (done.status, answer["schema"], answer["torch"]) == (1, "rankandfile.examination/1", "2.13")
    finding = next(one for one in answer["findings"] if one["variable"] == "CUDA_LAUNCH_BLOCKING")
    assert (finding["severity"], finding["place"]["line"]) == ("harmful", 1)
    assert finding["exports"] == {"CUDA_LAUNCH_BLOCKING": None}


def test_fix_prints_nothing_but_what_can_be_pasted(raf: Raf, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("export NCCL_TIMEOUT=1\ntorchrun train.py\n")
    done = raf("doctor", script, "--torch", "2.13", "--fix", "--dump-dir", "/lustre/hangs")
    printed = done.out.strip().split("\n")
    assert "unset NCCL_TIMEOUT" in printed
    assert 'export TORCH_FR_DUMP_TEMP_FILE="/lustre/hangs/$(date +%Y%m%d-%H%M%S)/nccl_trace_rank_"' in printed
    assert all(line.startswith(("export ", "unset ", "mkdir ")) for line in printed)


def test_the_running_shell_is_the_default(raf: Raf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_NCCL_ENABLE_MONITORING", "0")
    assert (
        "environment: TORCH_NCCL_ENABLE_MONITORING=0 removes the kill" in raf("doctor", "--torch", "2.9").out
    )


def test_an_environment_on_stdin(raf: Raf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.replace("2000", "0").encode())))
    done = raf("doctor", "-", "--torch", "2.13")
    assert "-:1: TORCH_FR_BUFFER_SIZE=0 switches the flight recorder off" in done.out


def test_a_directory_instead_of_a_prefix_is_seen_on_this_machine(
    raf: Raf, good: Path, tmp_path: Path
) -> None:
    folder = Path(tmp_path, "20260207")
    folder.mkdir()
    good.write_text(GOOD.replace("/scratch/hangs/812345/nccl_trace_rank_", str(folder)))
    assert f"{folder} names a directory" in raf("doctor", good, "--torch", "2.13").out


def test_the_calls_of_a_step_are_measured_in_dumps(raf: Raf, good: Path, healthy: Path) -> None:
    done = raf("doctor", good, "--torch", "2.13", "--case", healthy, "--steps-to-keep", "100000")
    measured = int(done.err.split(" calls a step")[0].split()[-1])
    assert measured > 0
    assert f"steps of {measured} calls; 100000 are wanted" in done.out


def test_the_release_is_taken_from_beside_raf_only_with_a_word(raf: Raf, good: Path) -> None:
    pytest.importorskip("torch")
    assert "installed beside raf" in raf("doctor", good).err
    assert "installed beside raf" not in raf("doctor", good, "--torch", "2.13").err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("/nowhere/run.sh",), "No such file"),
        (("--torch", "nightly"), "not a release"),
        (("--steps-to-keep", "0"), ""),
    ],
)
def test_usage_is_status_2(raf: Raf, arguments: tuple[str, ...], why: str) -> None:
    done = raf("doctor", *arguments)
    assert done.status == 2
    assert why in done.err


@pytest.mark.parametrize(
    ("name", "text", "release"),
    [
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.6.0+cu124"\nsource = {}\n', "2.6.0+cu124"),
        ("poetry.lock", 'name = "torchvision"\nversion = "0.20"\n\nname = "torch"\nversion = "2.5.1"\n', "2.5.1"),
        ("Pipfile.lock", '{"default": {"torch": {"hashes": ["sha256:ab"], "version": "==2.3.0"}}}', "2.3.0"),
        ("requirements-gpu.txt", "numpy\ntorch==2.4.1 ; python_version > '3.8'\ntorchvision==0.19\n", "2.4.1"),
        ("environment.yml", "dependencies:\n  - python=3.11\n  - pytorch=2.2.2=py3.11_cuda12.1\n", "2.2.2"),
        ("Dockerfile", "FROM ubuntu AS build\nFROM pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime\nRUN true\n", "2.4.1"),
        ("train.dockerfile", "FROM nvidia/cuda:12.4.0\nRUN pip install numpy torch==2.7.0 x\n", "2.7.0"),
    ],
)  # fmt: skip
def test_the_release_that_images_and_lock_files_pin(
    name: str, text: str, release: str, tmp_path: Path, raf: Raf
) -> None:
    """Whether the file is given, or lies beside the script or above it in the same repository."""
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text)
    script = tmp_path / "jobs" / "train.sbatch"
    script.parent.mkdir()
    script.write_text("#!/bin/bash\nsrun torchrun --nproc-per-node=8 train.py\n")
    for given in ([script], [script, tmp_path / name]):
        found = json.loads(raf("doctor", *given, "--format", "json").out)
        assert found["torch"] == release and name in found["torch_from"], found["torch_from"]


NGC = "nvcr.io/nvidia/pytorch:24.05-py3"
POD = f"kind: Pod\nspec:\n  containers:\n  - {{name: one, image: '{NGC}', command: [torchrun, train.py]}}\n"


@pytest.mark.parametrize(
    ("image", "release"),
    [(NGC, None), ("ghcr.io/acme/train:cu124-torch2.6", "2.6"), ("ghcr.io/acme/train:7", None)],
)
def test_an_image_that_tells_no_release_takes_nothing_from_the_other_files(
    image: str, release: str | None, tmp_path: Path, raf: Raf
) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {image}\n")
    script = tmp_path / "launch.sh"
    script.write_text("export NCCL_DEBUG=INFO\ntorchrun --nproc-per-node=8 train.py\n")
    done = raf("doctor", script, tmp_path / "Dockerfile", "--format", "json")
    found = json.loads(done.out)
    assert done.status == 1 and any(one["place"]["file"] == str(script) for one in found["findings"])
    if release:
        assert (found["torch"], found["torch_from"]) == (release, f"{image} in Dockerfile")
    elif image is NGC:
        assert (found["torch"], found["torch_from"]) == (None, f"{NGC} in Dockerfile")
        said = raf("doctor", script, tmp_path / "Dockerfile")
        assert f"which release {NGC} in Dockerfile has is not known: --torch 2.9 tells" in said.err
    else:
        assert "Dockerfile: no release of torch is pinned in it" in [
            f"{Path(one['file']).name}: {one['what']}" for one in found["notes"]
        ]


def test_an_image_without_torch_says_nothing_of_it(tmp_path: Path, raf: Raf) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.1.0\n")
    (tmp_path / "pod.yaml").write_text(POD.replace(NGC, "nvcr.io/nvidia/cuda:12.4.0-base"))
    assert json.loads(raf("doctor", tmp_path / "pod.yaml", "--format", "json").out)["torch"] == "2.1.0"


@pytest.mark.parametrize("beside", ["requirements.txt", "Dockerfile"])
def test_an_image_has_its_own_torch_and_not_what_lies_in_the_folder(
    tmp_path: Path, raf: Raf, beside: str
) -> None:
    pinned = {"requirements.txt": "torch==2.1.0\n", "Dockerfile": "FROM pytorch/pytorch:2.1.0-cuda12.1\n"}
    (tmp_path / beside).write_text(pinned[beside])
    (tmp_path / "pod.yaml").write_text(POD)
    found = json.loads(raf("doctor", tmp_path / "pod.yaml", "--format", "json").out)
    assert (found["torch"], found["torch_from"]) == (None, NGC)
    given = json.loads(raf("doctor", tmp_path / "pod.yaml", "--torch", "2.3", "--format", "json").out)
    assert given["torch"] == "2.3"


def test_what_is_no_launch_script_is_not_examined_as_one(tmp_path: Path, raf: Raf) -> None:
    for name, text in (
        ("README.md", "# How to\n\n    export NCCL_DEBUG=INFO\n"),
        ("names.py", "NAMES = [1, 2]\n"),
        ("config.py", '"""Settings of a training run."""\nimport os\nHOME = os.environ["HOME"]\n'),
        ("requirements.txt", "torch==2.7.1\n"),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.8.0"\nsource = {}\n'),
        ("Dockerfile", "FROM nvcr.io/nvidia/pytorch:24.05-py3\n"),
    ):
        (tmp_path / name).write_text(text)
        done = raf("doctor", tmp_path / name)
        assert done.status == 2 and f"{name}: not a " in done.err and not done.out, name
    (tmp_path / "env.txt").write_text("PATH=/bin\nNCCL_DEBUG=INFO\nHOME=/root\n")
    assert raf("doctor", tmp_path / "env.txt").status == 1


def test_what_several_processes_lack_is_said_once(tmp_path: Path, raf: Raf) -> None:
    container = "{name: one, image: 'pytorch/pytorch:2.4.1-cuda12.1', command: [torchrun, train.py]}"
    replica = f"\n      template: {{spec: {{containers: [{container}]}}}}"
    (tmp_path / "job.yaml").write_text(
        f"kind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Master:{replica}\n    Worker:{replica}\n"
    )
    lines = raf("doctor", tmp_path / "job.yaml").out.splitlines()
    assert "6 missing" in lines[0] and len(lines) == 7
    assert all("job.yaml:5, " in line and "job.yaml:7: " in line for line in lines[1:])


def test_a_program_is_known_by_what_it_uses_or_imports_from_beside_it(tmp_path: Path, raf: Raf) -> None:
    (tmp_path / "loop.py").write_text("import torch\n")
    (tmp_path / "main.py").write_text("from loop import run\nrun()\n")
    (tmp_path / "ranks.py").write_text("import os\nprint(os.environ['LOCAL_RANK'])\n")
    assert [raf("doctor", tmp_path / name).status for name in ("main.py", "ranks.py")] == [1, 1]


def test_what_was_named_comes_before_what_lies_beside_it_and_another_release_is_told(
    tmp_path: Path, raf: Raf
) -> None:
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\nversion = "2.8.0"\nsource = {}\n')
    (tmp_path / "requirements.txt").write_text("torch==2.7.1\n")
    (tmp_path / "pod.yaml").write_text(POD.replace(NGC, "ghcr.io/acme/train:torch2.5.1"))
    script = tmp_path / "train.sbatch"
    script.write_text("#!/bin/bash\nsrun torchrun --nproc-per-node=8 train.py\n")
    for named, release in (("requirements.txt", "2.7.1"), ("pod.yaml", "2.5.1")):
        done = raf("doctor", script, tmp_path / named)
        assert f"; torch {release} (" in done.out.splitlines()[0]
        assert f"note: torch: 2.8.0 is pinned in uv.lock, and this answer is of {release}" in done.err
    alone = raf("doctor", script)
    assert "torch 2.8.0 (pinned in uv.lock)" in alone.out and "this answer is of" not in alone.err


def test_of_a_folder_its_one_launch_script_is_examined(tmp_path: Path, raf: Raf) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    (tmp_path / "clean.sh").write_text("rm -rf out\n")
    (tmp_path / "train.sbatch").write_text("#!/bin/bash\nsrun torchrun train.py\n")
    assert f"{tmp_path}/train.sbatch" in raf("doctor", tmp_path).out
    (tmp_path / "eval.sh").write_text("torchrun eval.py\n")
    refused = raf("doctor", tmp_path)
    assert refused.status == 2 and "several launch scripts in it: eval.sh, train.sbatch" in refused.err
