"""Kubernetes manifests: each kind of process apart, values as the container gets them."""

from __future__ import annotations

import json

import pytest
from support.doctor.examinations import examined, only, read, wrong

from rankandfile.doctor.settings.read import Unreadable

JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm}
spec:
  pytorchReplicaSpecs:
    Master:
      template: &pod
        spec:
          terminationGracePeriodSeconds: 5
          volumes:
          - name: data
            persistentVolumeClaim: {claimName: data}
          containers:
          - name: pytorch
            image: pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime
            command: [bash, -c, "export NCCL_DEBUG=WARN; torchrun train.py"]
            volumeMounts:
            - {name: data, mountPath: /data}
            env:
            - name: TORCH_NCCL_TRACE_BUFFER_SIZE
              value: "2000"
            - name: TORCH_NCCL_DUMP_ON_TIMEOUT
              value: true
            - name: TORCH_NCCL_DEBUG_INFO_TEMP_FILE
              value: /data/$JOB_ID/fr_
    Worker:
      template: *pod
---
apiVersion: v1
kind: Service
spec: {ports: [{port: 80}]}
"""


def test_what_a_container_is_started_with() -> None:
    (one, *_) = read(JOB, "job.yaml")
    assert (one.scope, one.launcher, one.torch) == ("Master/pytorch", "kubernetes", "2.4.1")
    found = {setting.name: (setting.value, setting.place.line) for setting in one.settings}
    assert found["TORCH_NCCL_TRACE_BUFFER_SIZE"] == ("2000", 21)
    assert found["TORCH_NCCL_DUMP_ON_TIMEOUT"] == ("true", 23)
    assert found["NCCL_DEBUG"] == ("WARN", 17)
    assert [(volume.mount, volume.kind) for volume in one.volumes] == [("/data", "persistentVolumeClaim")]


def test_its_findings() -> None:
    examination = examined(JOB, "job.yaml", torch=None)
    assert examination.torch == "2.4.1"
    path = only(examination, "dump-path")
    assert "$JOB_ID is not expanded" in path.says
    assert path.exports["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"] == "/data/hangs/$(POD_UID)/nccl_trace_rank_"
    grace = only(examination, "deadlines")
    assert grace.place is not None
    assert (grace.place.line, grace.fix) == (10, "terminationGracePeriodSeconds: 90")


def test_json_says_the_same() -> None:
    pod = {
        "kind": "Deployment",
        "spec": {"template": {"spec": {"containers": [
            {"name": "main", "env": [{"name": "CUDA_LAUNCH_BLOCKING", "value": "1"}]},
            {"name": "sidecar", "env": [{"name": "TORCH_NCCL_BLOCKING_WAIT", "value": "1"}]},
        ]}}},
    }  # fmt: skip
    scopes = [one.scope for one in read(json.dumps(pod), "deployment.json")]
    assert scopes == ["sidecar"], "the one that speaks to torch"
    assert only(examined(json.dumps(pod), "deployment.json"), "dump").costs == "all"


def test_config_maps_of_the_same_file_count_and_others_are_said_to_be_missing() -> None:
    text = (
        "kind: ConfigMap\nmetadata: {name: nccl}\ndata: {NCCL_P2P_DISABLE: '1'}\n---\n"
        "kind: Pod\nspec:\n  containers:\n  - name: main\n    envFrom:\n    - configMapRef: {name: nccl}\n"
        "    - configMapRef: {name: other}\n    env:\n    - name: NCCL_IB_DISABLE\n      valueFrom:\n"
        "        configMapKeyRef: {name: nccl, key: NCCL_P2P_DISABLE}\n"
    )
    examination = examined(text, "pod.yaml")
    assert {one.variable for one in wrong(examination, "cure-alls")} == {
        "NCCL_P2P_DISABLE",
        "NCCL_IB_DISABLE",
    }
    assert any("envFrom other is not seen" in note.what for note in examination.notes)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("kind: Service\nspec: {}\n", "no container"),
        ("kind: Pod\nspec: [\n", "not YAML at line"),
        ("kind: Pod\nspec:\n  {{ .Values.x }}\n  - y: {{ z }}\n", "rendered"),
        ("[" * 5000, "not YAML"),
    ],
)
def test_what_holds_no_process_says_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(text, "x.yaml")


def test_no_tag_makes_an_object_and_no_alias_a_bomb() -> None:
    text = (
        "a: &a [x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 8)}]\n" for i in range(12)
        )
        + "kind: Pod\nspec: &spec\n  self: *spec\n"
        "  containers:\n  - name: !!python/object/apply:os.system [exit 1]\n    env:\n"
        "    - {name: NCCL_IB_DISABLE, value: '1'}\n"
    )
    assert only(examined(text, "pod.yaml"), "cure-alls").variable == "NCCL_IB_DISABLE"


def test_without_a_yaml_library_json_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(Unreadable, match="needs PyYAML"):
        read(JOB, "job.yaml")
    assert read('{"spec": {"containers": [{"name": "main"}]}}', "pod.json")[0].scope == "main"
