"""Launch scripts: what reaches the job, and where it was said."""

from __future__ import annotations

import pytest
from support.doctor.examinations import read

from rankandfile.model.settings import Setting, Settings


def script(text: str) -> Settings:
    return read(text, "run.sh")[0]


def values(text: str) -> dict[str, str | None]:
    return {one.name: one.value for one in script(text).settings if not one.lost}


def named(text: str, name: str) -> Setting:
    return [one for one in script(text).settings if one.name == name][-1]


@pytest.mark.parametrize(
    "line",
    [
        "export A=1",
        "export A='1'",
        'export A="1"',
        "export B=2 A=1",
        "A=1; export A",
        "declare -x A=1",
        "set -a\nA=1",
        "A=1 torchrun train.py",
        "B=2 A=1 srun python train.py",
        "env B=2 A=1 torchrun train.py",
        "srun env -u B A=1 torchrun train.py",
        "srun --export=ALL,A=1 python train.py",
        "srun --export ALL,A=1 python train.py",
        "#SBATCH --export=ALL,A=1",
        "docker run --rm -e A=1 image torchrun train.py",
        "docker run --env=A=1 image torchrun train.py",
        "mpirun -np 8 -x A=1 python train.py",
        "srun bash -c 'export A=1; torchrun train.py'",
        'bash -lc "A=1 torchrun train.py"',
        "if true; then export A=1; fi",
        "f() { export A=1; }",
        "export A=0\nexport A=1",
        "export \\\n  A=1",
        "true && export A=1 || exit 1",
        "X=1\nexport A=$X",
        "X=1\nexport A=${X}",
        "export A=${A:-1}",
        "export A=${B:-${C:-1}}",
        "X=1; export A=${X:-2}",
        "export A=\"1\" # not 2",
        "RUN='env NCCL_DEBUG=WARN A=1 python train.py'\nsrun $RUN",
        "ARGS=(--rm -e A=1)\ndocker run ${ARGS[@]} image torchrun train.py",
        "(export A=1; torchrun train.py) 2>&1 | tee log",
    ],
)  # fmt: skip
def test_an_assignment_reaches_the_job(line: str) -> None:
    assert values(line + "\n").get("A") == "1"


@pytest.mark.parametrize(
    "line",
    [
        "# export A=1",
        "echo hello # export A=1",
        "cat <<EOF > env.sh\nexport A=1\nEOF",
        "cat <<-'END'\n\texport A=1\n\tEND",
        "echo 'export A=1'",
        "echo \"x; export A=1\"",
        'X="$(echo "1; export A=1")"',
        "grep A=1 file",
    ],
)  # fmt: skip
def test_what_only_looks_like_one_does_not(line: str) -> None:
    assert "A" not in values(line + "\ntorchrun train.py\n")


def test_a_removed_variable_is_removed() -> None:
    assert values("export A=1\nunset A\n")["A"] is None


def test_places_are_lines() -> None:
    text = "#!/bin/bash\ncat <<EOF\none\ntwo\nEOF\nexport A=1 \\\n  B=2\nexport C='x\ny'\nexport D=4\n"
    lines = {one.name: one.place.line for one in script(text).settings}
    assert lines == {"A": 6, "B": 7, "C": 8, "D": 10}


def test_what_is_not_exported_is_lost() -> None:
    assert named("A=1\ntorchrun train.py\n", "A").lost == "not exported"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("srun --export=NONE python train.py", "without ALL"),
        ("srun --export=B python train.py", "without ALL"),
        ("docker run --gpus all image torchrun train.py", "-e"),
    ],
)
def test_what_the_launcher_holds_back_is_lost(line: str, reason: str) -> None:
    assert reason in named(f"export A=1\n{line}\n", "A").lost


@pytest.mark.parametrize(
    "line",
    [
        "srun --export=ALL python train.py",
        "srun --export=A,B python train.py",
        "srun python train.py",
        "docker run -e A image torchrun train.py",
        "docker ps\ntorchrun train.py",
    ],
)
def test_what_the_launcher_passes_on_is_not(line: str) -> None:
    assert named(f"export A=1\n{line}\n", "A").lost == ""


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("export A='/x/$SLURM_JOB_ID/fr_'", "$SLURM_JOB_ID"),
        ('export A="/x/\\$JOB/fr_"', "$JOB"),
        ('export A="~/fr_"', "~"),
        ("export A=~/fr_", ""),
        ('export A="/x/$SLURM_JOB_ID/fr_"', ""),
    ],
)
def test_quotes_that_keep_a_variable_from_being_expanded_are_seen(line: str, part: str) -> None:
    assert named(line + "\n", "A").unexpanded == part


def test_nothing_is_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    witness = tmp_path_factory.mktemp("run") / "witness"
    assert values(f"export A=$(touch {witness})\nexport B=`touch {witness}`\n")["A"] == f"$(touch {witness})"
    assert not witness.exists()


def test_the_scheduler_the_release_and_the_sourced_files_are_told() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 2\nsource /opt/venv/bin/activate\n. ./env.sh\n"
        "pip install torch==2.4.1\nsrun python train.py\n"
    )
    found = script(text)
    assert found.launcher == "slurm"
    assert found.prefixes == ("/opt/venv",)
    assert found.torch == "2.4.1"
    assert [str(note) for note in found.notes] == [
        "run.sh: line 4: what ./env.sh sets is not seen: give that file too"
    ]
