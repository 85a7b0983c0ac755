"""Ten pieces of advice that are wrong, each caught where it was followed."""

from __future__ import annotations

import pytest
from support.doctor.examinations import environment, examined, only, wrong


def test_the_good_environment_has_nothing_to_mend() -> None:
    examination = environment()
    assert wrong(examination) == []
    assert examination.diagnosable == "yes"


@pytest.mark.parametrize("size", ["2097152", "1048576"])
def test_1_a_ring_counted_in_bytes(size: str) -> None:
    finding = only(environment(TORCH_FR_BUFFER_SIZE=size))
    assert (finding.severity, finding.check) == ("harmful", "recorder")
    assert "entries, not bytes" in finding.says
    assert f"{int(size) / 1e6:.1f} GB" in finding.says
    assert finding.exports == {"TORCH_FR_BUFFER_SIZE": "2000"}


def test_2_dumps_sought_as_json_in_the_working_directory() -> None:
    script = "#!/bin/bash\ntorchrun train.py\ncp nccl_trace_*.json results/\n"
    finding = only(examined(script, "run.sh"), "beliefs")
    assert finding.place is not None
    assert finding.place.line == 3
    assert "pickle per rank" in finding.says
    prefix = only(environment(TORCH_FR_DUMP_TEMP_FILE="/scratch/812345/trace.json"))
    assert prefix.exports == {"TORCH_FR_DUMP_TEMP_FILE": "/scratch/812345/trace_rank_"}


def test_2_the_default_prefix_is_gone_with_the_container() -> None:
    pod = "kind: Pod\nspec:\n  containers:\n  - name: main\n    args: [torchrun, train.py]\n"
    finding = only(examined(pod, "pod.yaml", torch="2.6"), "dump-path")
    assert (finding.severity, finding.costs) == ("missing", "all")
    assert "/tmp/nccl_trace_rank_" in finding.says
    assert "gone with the pod" in finding.says


@pytest.mark.parametrize(
    "name", ["NCCL_TIMEOUT", "NCCL_TIMEOUT_MS", "TORCH_NCCL_TIMEOUT_SEC", "TORCH_DISTRIBUTED_TIMEOUT"]
)
def test_3_a_timeout_that_nobody_reads(name: str) -> None:
    finding = only(environment(**{name: "3600"}))
    assert (finding.severity, finding.variable) == ("useless", name)
    assert "init_process_group(timeout=" in finding.fix
    assert finding.exports == {name: None}


@pytest.mark.parametrize("real", ["NCCL_IB_TIMEOUT", "NCCL_RAS_TIMEOUT_FACTOR", "NCCL_SOCKET_IFNAME"])
def test_3_real_names_of_nccl_are_left_alone(real: str) -> None:
    assert wrong(environment(**{real: "2"})) == []


def test_3_a_new_group_does_not_inherit_the_timeout() -> None:
    program = (
        "import datetime\nimport torch.distributed as dist\n"
        "dist.init_process_group('nccl', timeout=datetime.timedelta(minutes=20))\n"
        "tp = dist.new_group([0, 1])\n"
        "dp = dist.new_group([0, 2], timeout=datetime.timedelta(minutes=20))\n"
    )
    finding = only(examined(program, "train.py"), "timeouts")
    assert finding.place is not None
    assert finding.place.line == 4
    assert "does not inherit" in finding.says


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torchrun train.py --ddp_timeout 18000\n", "run.sh"),
        ("srun python pretrain.py --distributed-timeout-minutes=300\n", "run.sh"),
        ("from datetime import timedelta as td\nimport datetime\n"
         "init_process_group(timeout=datetime.timedelta(hours=5))\n", "train.py"),
        ("init_process_group('nccl', None, timedelta(seconds=60 * 60 * 5))\n", "train.py"),
    ],
)  # fmt: skip
def test_4_a_raised_timeout(text: str, name: str) -> None:
    finding = only(examined(text, name), "timeouts")
    assert finding.severity == "harmful"
    assert finding.says.startswith("timeout of 5 h")
    assert "single-rank work" in finding.says


def test_4_a_usual_timeout_is_left_alone() -> None:
    assert wrong(examined("torchrun train.py --ddp_timeout 1800\n", "run.sh"), "timeouts") == []


def test_5_no_heartbeat_monitor() -> None:
    finding = only(environment(TORCH_NCCL_ENABLE_MONITORING="0"))
    assert finding.severity == "harmful"
    assert "removes the kill, not the hang" in finding.says
    assert finding.exports == {"TORCH_NCCL_ENABLE_MONITORING": None}


def test_6_a_dump_of_a_recorder_that_is_off() -> None:
    older = environment("2.6", TORCH_FR_BUFFER_SIZE=None, TORCH_FR_DUMP_TEMP_FILE=None)
    finding = only(older, "dump")
    assert finding.severity == "useless"
    assert "nothing to dump" in finding.says
    assert finding.exports == {"TORCH_NCCL_TRACE_BUFFER_SIZE": "2000"}
    assert older.diagnosable == "no"
    assert wrong(environment("2.11", TORCH_FR_BUFFER_SIZE=None)) == []


def test_6_a_dump_that_goes_with_the_pod() -> None:
    pod = (
        "kind: Pod\nspec:\n  volumes:\n  - {name: scratch, emptyDir: {}}\n  containers:\n  - name: main\n"
        "    volumeMounts:\n    - {name: scratch, mountPath: /scratch}\n    env:\n"
        "    - {name: TORCH_NCCL_DUMP_ON_TIMEOUT, value: '1'}\n"
        "    - {name: TORCH_FR_DUMP_TEMP_FILE, value: /scratch/fr_}\n"
    )
    finding = only(examined(pod, "pod.yaml"), "dump-path")
    assert (finding.severity, finding.costs) == ("useless", "all")
    assert "emptyDir" in finding.says


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CUDA_LAUNCH_BLOCKING", "1"),
        ("NCCL_P2P_DISABLE", "1"),
        ("NCCL_IB_DISABLE", "1"),
        ("TORCH_DISTRIBUTED_DEBUG", "DETAIL"),
    ],
)
def test_7_a_cure_all_left_on(name: str, value: str) -> None:
    finding = only(environment(**{name: value}))
    assert (finding.severity, finding.check, finding.exports) == ("harmful", "cure-alls", {name: None})


def test_7_cure_alls_that_are_off_are_left_alone() -> None:
    off = {"CUDA_LAUNCH_BLOCKING": "0", "NCCL_IB_DISABLE": "0", "TORCH_DISTRIBUTED_DEBUG": "INFO"}
    assert wrong(environment(**off)) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("grep -h 'Watchdog caught' logs/* | sort | head -1", "messenger"),
        ("grep -m1 'Watchdog caught' job.log", "messenger"),
        ("nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader | awk '$1<90'", "100 %"),
        ("ncclras -v | grep -q OK && echo healthy", "RAS"),
    ],
)
def test_8_beliefs_in_a_script(line: str, words: str) -> None:
    finding = only(examined(f"#!/bin/bash\n{line}\n", "watch.sh"), "beliefs")
    assert finding.severity == "useless"
    assert words in finding.says


def test_8_a_probe_that_believes_in_utilisation() -> None:
    pod = (
        "kind: Pod\nspec:\n  containers:\n  - name: main\n    command: [torchrun, train.py]\n"
        "    livenessProbe:\n      exec:\n        command: [sh, -c, 'nvidia-smi -q -d UTILIZATION | grep 100']\n"
    )
    finding = only(examined(pod, "pod.yaml"), "beliefs")
    assert finding.place is not None
    assert finding.place.line == 8


def test_8_watching_more_than_utilisation_is_left_alone() -> None:
    script = "nvidia-smi --query-gpu=timestamp,power.draw,utilization.gpu --format=csv -l 5 > gpu.csv &\n"
    assert wrong(examined(script + "torchrun train.py\n", "run.sh"), "beliefs") == []


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("try:\n    train()\nfinally:\n    dist.destroy_process_group()\n", 4),
        ("try:\n    train()\nexcept Exception:\n    log()\n    dist.destroy_process_group()\n    raise\n", 5),
        ("import atexit\natexit.register(dist.destroy_process_group)\n", 2),
    ],
)
def test_9_teardown_on_the_failing_path(program: str, line: int) -> None:
    finding = only(examined(program, "train.py"), "teardown")
    assert finding.severity == "harmful"
    assert finding.place is not None
    assert finding.place.line == line
    assert "guilty" in finding.says


@pytest.mark.parametrize(
    "program",
    [
        "try:\n    train()\nexcept OSError:\n    log()\nelse:\n    dist.destroy_process_group()\n",
        "train()\ndist.destroy_process_group()\n",
        "try:\n    train()\nfinally:\n    dump_fr_trace()\n    dist.destroy_process_group()\n",
    ],
)
def test_9_teardown_after_success_or_after_a_dump_is_left_alone(program: str) -> None:
    assert wrong(examined(program, "train.py"), "teardown") == []


@pytest.mark.parametrize("name", ["TORCH_NCCL_FLIGHT_RECORDER_ENABLED", "NCCL_TIMEOUT_MINUTES"])
def test_10_invented_variables(name: str) -> None:
    finding = only(environment(**{name: "1"}))
    assert (finding.severity, finding.check, finding.exports) == ("useless", "names", {name: None})
