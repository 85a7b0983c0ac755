"""Pods by their labels: files by `kubectl exec`, logs of both lives, and how each container ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from rankandfile.capture.collect.target import Also, Target
from rankandfile.model.errors import UserError

from .asking import NoAnswer, ask

PROGRAM = "kubectl"
_NAMESPACE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


class _Container(Struct):
    name: str
    restarts: int = msgspec.field(default=0, name="restartCount")


class _Status(Struct):
    phase: str = "Unknown"
    containers: list[_Container] = msgspec.field(default_factory=list, name="containerStatuses")


class _Metadata(Struct):
    name: str
    namespace: str = ""


class _Pod(Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


class _Pods(Struct):
    items: list[_Pod]


def targets(
    asked: str, through: Sequence[str], patterns: Sequence[str], stacks: bool, container: str | None = None
) -> list[Target]:
    """Raises `UserError` where there is no such pod, or kubectl cannot ask."""
    namespace, selector = parted(asked)
    if not selector or selector.startswith("-"):
        raise UserError(f"--kubernetes {asked}: NAMESPACE/SELECTOR, such as training/job-name=train")
    where = ["-n", namespace] if namespace else []
    try:
        said = ask([*through, "get", "pods", *where, "-l", selector, "-o", "json"])
    except NoAnswer as why:
        raise UserError(str(why)) from why
    try:
        pods = msgspec.json.decode(said, type=_Pods).items
    except msgspec.DecodeError as error:
        raise UserError(f"{through[0]} get pods: not understood: {error}") from error
    if not pods:
        raise UserError(f"no pod has the labels {selector}{f' in {namespace}' if namespace else ''}")
    return [_target(pod, tuple(through), tuple(patterns), stacks, container) for pod in pods]


def parted(asked: str) -> tuple[str, str]:
    """Namespace, which may be empty, and selector: a label has slashes of its own.

    >>> parted("training/training.kubeflow.org/job-name=train")
    ('training', 'training.kubeflow.org/job-name=train')
    >>> parted("training.kubeflow.org/job-name=train")
    ('', 'training.kubeflow.org/job-name=train')
    """
    namespace, slash, selector = asked.partition("/")
    return (namespace, selector) if slash and _NAMESPACE.fullmatch(namespace) else ("", asked)


def _target(
    pod: _Pod, through: tuple[str, ...], patterns: tuple[str, ...], stacks: bool, container: str | None
) -> Target:
    name, phase = pod.metadata.name, pod.status.phase
    where = ("-n", pod.metadata.namespace) if pod.metadata.namespace else ()
    logs = (*through, "logs", name, *where, "--timestamps", "--prefix")
    also = [
        Also(f"{name}.describe.txt", (*through, "describe", "pod", name, *where)),
        Also(f"{name}.log", (*logs, "--all-containers")),
    ]
    also += [
        Also(f"{name}.{one.name}.previous.log", (*logs, "-c", one.name, "--previous"))
        for one in pod.status.containers
        if one.restarts
    ]
    inside = ("-c", container) if container else ()
    runs = phase == "Running"
    return Target(
        name=name,
        reach=(*through, "exec", "-i", name, *where, *inside, "--") if runs else (),
        patterns=patterns,
        stacks=stacks,
        also=tuple(also),
        out_of_reach="" if runs else f"the pod is {phase}: no file of it can be had, only its log",
    )
