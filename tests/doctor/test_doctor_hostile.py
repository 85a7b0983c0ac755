"""No file makes the doctor raise, hang, or speak to the terminal."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.doctor.examinations import examined
from support.examples import examples

from rankandfile.doctor import Options, examine, lines
from rankandfile.doctor.settings.read import Unreadable, joined, read_bytes
from rankandfile.model.settings import to_json
from rankandfile.render.examination import lines as as_text

pytestmark = pytest.mark.slow

NAMES = ("run.sh", "job.sbatch", "x.yaml", "x.json", "x.py", "env", "x.env", "-")

pieces = st.sampled_from(
    ["export ", "TORCH_FR_BUFFER_SIZE=", "TORCH_FR_DUMP_TEMP_FILE=",
     "'", '"', "$", "${", "}", "$(", ")", "`", "\\", "\n",
     "<<EOF\n", "EOF\n", "#", ";", "|", "&", ">", "srun --export=", "docker run -e ", "bash -c ", "env ", "1", "\0",
     "timeout -k ", "--ddp_timeout ", "containers:\n- env:\n  - name: ", "kind: Pod\n", "value: ", "{", "[", "- ", ": ",
     "&a ", "*a", "try:\n  x\nfinally:\n  destroy_process_group()\n", "timedelta(hours=", "init_process_group(timeout=",
     "9" * 30, "é", "\x1b[31m", "\ue000", "~", "="]
)  # fmt: skip


@settings(max_examples=examples(300), deadline=None)
@given(
    st.one_of(st.lists(pieces, max_size=40).map("".join).map(str.encode), st.binary(max_size=300)),
    st.sampled_from(NAMES),
    st.sampled_from([None, "2.1", "2.6", "2.13"]),
)
def test_any_bytes_give_findings_or_a_reason(data: bytes, name: str, torch: str | None) -> None:
    try:
        parts = joined(read_bytes(data, name))
    except Unreadable as reason:
        assert str(reason)
        return
    examination = examine(parts, Options(), torch)
    to_json(examination)
    printed = [*as_text(examination, verbose=True), *lines(examination.findings, "slurm")]
    assert all(line.isprintable() for line in printed), printed


@pytest.mark.parametrize(
    "text",
    [
        "'" * 100_000,
        '"' * 100_001,
        "$(" * 50_000,
        "${" * 50_000,
        "`" * 100_001,
        "cat <<X\n" * 20_000,
        '"$(' * 30_000,
        pytest.param("A=$A$A\n" * 20_000, marks=pytest.mark.lab),
        "bash -c '" * 5_000,
        "export A=" + "${B:-" * 10_000,
        "#SBATCH --export=ALL,A=1\n" * 10_000,
        "(" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_script_costs_no_more_than_its_length(text: str) -> None:
    start = time.process_time()
    examined(text, "run.sh")
    assert time.process_time() - start < 10


def test_a_value_cannot_speak_to_the_terminal() -> None:
    examination = examined(
        "NCCL_DEBUG_FILE=/x\x1b]0;owned\x07\0TORCH_FR_DUMP_TEMP_FILE=/x\nok  all is well/\0"
    )
    assert len(as_text(examination)) > 2
    assert all(line.isprintable() for line in as_text(examination, verbose=True))


def test_secrets_stay_where_they_are() -> None:
    text = "AWS_SECRET_ACCESS_KEY=hunter2\nTORCH_FR_BUFFER_SIZE=0\nNCCL_TOKEN=hunter2\n"
    assert b"hunter2" not in to_json(examined(text))
