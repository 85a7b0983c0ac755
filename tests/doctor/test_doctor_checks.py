"""Rings, deadlines, paths and values: the arithmetic and the borders."""

from __future__ import annotations

import json

import pytest
from support.doctor.examinations import environment, examined, only, wrong
from support.places import SCHEMAS

from rankandfile.doctor import Options
from rankandfile.model.settings import to_json


@pytest.mark.parametrize(
    ("per_step", "steps", "enough"), [(500, 2, True), (600, 2, True), (700, 2, False), (1999, 1, False)]
)
def test_the_ring_holds_the_steps_to_keep(per_step: int, steps: int, enough: bool) -> None:
    options = Options(calls_per_step=per_step, steps_to_keep=steps)
    found = wrong(environment(options=options), "recorder")
    assert (found == []) is enough
    if found:
        size = int(found[0].exports["TORCH_FR_BUFFER_SIZE"] or 0)
        assert size >= per_step * (steps + 1)
        assert wrong(environment(options=options, TORCH_FR_BUFFER_SIZE=str(size)), "recorder") == []


def test_a_large_ring_is_right_for_a_job_of_many_calls() -> None:
    options = Options(calls_per_step=60_000)
    assert wrong(environment(options=options, TORCH_FR_BUFFER_SIZE="200000"), "recorder") == []
    assert only(environment(TORCH_FR_BUFFER_SIZE="200000")).severity == "harmful"


@pytest.mark.parametrize(
    ("name", "value", "costs"),
    [
        ("TORCH_FR_BUFFER_SIZE", "0", "all"),
        ("TORCH_FR_BUFFER_SIZE", "20", "part"),
        ("TORCH_NCCL_DUMP_ON_TIMEOUT", "false", "all"),
        ("TORCH_NCCL_BLOCKING_WAIT", "1", "all"),
        ("NCCL_BLOCKING_WAIT", "1", "all"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0", "part"),
        ("NCCL_ASYNC_ERROR_HANDLING", "2", "part"),
        ("TORCH_NCCL_TRACE_CPP_STACK", "1", "part"),
        ("TORCH_INCLUDE_STACK_TRACE", "0", "part"),
        ("TORCH_INCLUDE_ONLY_ACTIVE", "1", "part"),
        ("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "1000", "part"),
        ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "20", "part"),
        ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "7200", "part"),
        ("TORCH_NCCL_DUMP_ON_TIMEOUT", "on", "part"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "true", "part"),
        ("NCCL_DEBUG_FILE", "/logs/nccl.%h", "nothing"),
        ("NCCL_RAS_ENABLE", "0", "part"),
        ("NCCL_IB_TIMEOUT", "23", "nothing"),
    ],
)
def test_one_wrong_value_one_finding(name: str, value: str, costs: str) -> None:
    finding = [one for one in wrong(environment(**{name: value})) if one.check != "dump"] or wrong(
        environment(**{name: value})
    )
    assert finding[0].variable == name
    assert finding[0].costs == costs
    assert value in finding[0].says or finding[0].check == "nccl-logs"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TORCH_NCCL_BLOCKING_WAIT", "0"),
        ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"),
        ("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "60000"),
        ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "480"),
        ("TORCH_FR_BUFFER_SIZE", "20000"),
        ("NCCL_DEBUG_FILE", "/logs/nccl.%h.%p.log"),
        ("TORCH_FR_DUMP_TEMP_FILE", "/lustre/hangs/20260207-0841/trace_rank_"),
    ],
)
def test_sane_values_are_left_alone(name: str, value: str) -> None:
    assert wrong(environment(**{name: value})) == []


def test_an_unread_number_is_told_as_torch_reads_it() -> None:
    assert "torch reads 2" in only(environment(TORCH_FR_BUFFER_SIZE="2e3"), "values").says


@pytest.mark.parametrize(
    ("torch", "grace", "enough"),
    [("2.13", 60, True), ("2.13", 30, True), ("2.13", 10, False), ("2.6", 30, False), ("2.6", 60, True)],
)
def test_the_grace_that_is_given_covers_a_dump(torch: str, grace: int, enough: bool) -> None:
    options = Options(grace_s=grace)
    names = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "2000", "TORCH_FR_BUFFER_SIZE": None}
    assert (wrong(environment(torch, options, **names), "deadlines") == []) is enough


def test_a_default_grace_is_enough_for_a_default_wait_but_not_for_any() -> None:
    job = "#!/bin/bash\n#SBATCH -N 2\n{}srun python train.py\n"
    raised = "export TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC=600000\n"
    assert wrong(examined(job.format(""), torch="2.6", name="job.sbatch"), "deadlines") == []
    assert (
        only(examined(job.format(raised), torch="2.6", name="job.sbatch"), "deadlines").severity == "missing"
    )


def test_a_launcher_that_kills_at_once() -> None:
    script = "timeout -s KILL 3600 torchrun train.py\n"
    assert "timeout -s KILL" in only(examined(script, "run.sh"), "deadlines").says
    assert wrong(examined("timeout -k 120 3600 torchrun train.py\n", "run.sh"), "deadlines") == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("/scratch/$SLURM_JOB_ID/", "names a directory"),
        ("/tmp/$SLURM_JOB_ID/fr_", "own disk"),
        ("$TMPDIR/$SLURM_JOB_ID/fr_", "own disk"),
        ("/scratch/fr_", "no job id"),
        ("/scratch/%j/fr_", "expands no %"),
        ("/scratch/$SLURM_JOB_ID/fr.pkl", "prefix"),
    ],
)
def test_what_is_wrong_with_a_path(value: str, words: str) -> None:
    script = f'#!/bin/bash\n#SBATCH -N 2\nexport TORCH_FR_DUMP_TEMP_FILE="{value}"\nsrun python train.py\n'
    found = wrong(examined(script, "job.sbatch"), "dump-path")
    assert any(words in one.says for one in found), [one.says for one in found]


def test_a_directory_that_the_script_makes_is_no_prefix() -> None:
    script = (
        "#!/bin/bash\n#SBATCH -N 2\nDUMPS=/scratch/$SLURM_JOB_ID\nmkdir -p $DUMPS\n"
        "export TORCH_FR_DUMP_TEMP_FILE={}\nsrun python train.py\n"
    )
    finding = only(examined(script.format("$DUMPS"), "job.sbatch"), "dump-path")
    assert finding.exports == {"TORCH_FR_DUMP_TEMP_FILE": "/scratch/$SLURM_JOB_ID/nccl_trace_rank_"}
    assert wrong(examined(script.format("$DUMPS/fr_"), "job.sbatch"), "dump-path") == []


def test_restarts_write_over_the_dumps() -> None:
    script = "torchrun --max-restarts=3 train.py\n"
    assert any("--max-restarts 3" in one.says for one in wrong(examined(script, "run.sh"), "dump-path"))
    assert not any(
        "restarts" in one.says for one in wrong(examined("torchrun --max-restarts=0 t.py\n", "run.sh"))
    )


def test_a_program_speaks_for_itself() -> None:
    program = "import os\nos.environ['NCCL_P2P_DISABLE'] = '1'\nos.environ.setdefault('NCCL_DEBUG', 'WARN')\n"
    examination = examined("torchrun train.py\n", "run.sh", py=program)
    finding = only(examination, "cure-alls")
    assert (str(finding.place), finding.variable) == ("job.py:2", "NCCL_P2P_DISABLE")
    assert wrong(examination, "nccl-logs") == []


@pytest.mark.parametrize("text", ["TORCH_NCCL_DUMP_ON_TIMEOUT=0\nNCCL_TIMEOUT=1800\n", ""])
def test_json_keeps_to_the_published_schema(text: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SCHEMAS / "examination-1.json").read_text())
    document = json.loads(to_json(examined(text)))
    jsonschema.validate(document, schema)
    for key in document:
        broken = {other: value for other, value in document.items() if other != key}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)
