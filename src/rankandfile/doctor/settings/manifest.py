"""Kubernetes manifests as settings: one for each container that trains, of any kind that holds a pod template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from rankandfile.model.ledger import Note
from rankandfile.model.settings import Command, Place, Setting, Settings, Span, Volume

from . import launchers
from .plain import NAME, never_expanded, short
from .shell import read_script
from .shell_scan import Word
from .tree import Node

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_TRAINS = re.compile(r"\b(?:torchrun|deepspeed|accelerate|torch\.distributed|train\w*\.py)\b")
_OURS = ("TORCH_", "NCCL_")
_MOST_NODES = 200_000


def read_manifest(trees: list[Node], file: str) -> list[Settings]:
    """The containers that look like training; all of them, where none does."""
    maps = {name: data for tree in trees for name, data in _config_maps(tree)}
    found = [
        _container(pod, container, scope, maps, file)
        for tree in trees
        for scope, pod in _pods(tree)
        for container in pod.get("containers").items
    ]
    return [one for one in found if _trains(one)] or found


def _walk(root: Node) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Every node once, with the keys that lead to it; documents may refer to themselves."""
    seen: set[int] = set()
    waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while waiting and len(seen) < _MOST_NODES:
        node, trail = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node, trail
        inside = [(value, (*trail[-8:], key)) for key, value in node.fields.items()]
        inside += [(value, trail) for value in node.items]
        waiting += reversed(inside)


def _pods(tree: Node) -> Iterator[tuple[str, Node]]:
    for node, trail in _walk(tree):
        if node.get("containers").items:
            names = [
                key
                for before, key in zip(("", *trail), trail, strict=False)
                if before.lower().endswith("replicaspecs")
            ]
            yield (names[-1] if names else ""), node


def _config_maps(tree: Node) -> Iterator[tuple[str, Node]]:
    for node, _ in _walk(tree):
        if node.get("kind").text == "ConfigMap":
            yield node.get("metadata", "name").text, node.get("data")


def _container(pod: Node, container: Node, scope: str, maps: Mapping[str, Node], file: str) -> Settings:
    name = container.get("name").text
    settings, notes = _environment(container, maps, file)
    inner = _inner(container, file)
    grace = pod.get("terminationGracePeriodSeconds")
    spans = [*inner.spans]
    if re.fullmatch(r"\d{1,9}", grace.text):
        spans.append(
            Span(
                what="grace",
                seconds=float(grace.text),
                detail=f"terminationGracePeriodSeconds: {grace.text}",
                place=Place(file=file, line=grace.line),
            )
        )
    image = launchers.torch_release(container.get("image").text)
    release = image or (inner.torch, inner.torch_from)
    return Settings(
        place=Place(file=file, line=container.line),
        scope="/".join(part for part in (scope, name) if part),
        launcher="kubernetes",
        settings=(*settings, *inner.settings),
        commands=(*inner.commands, *_probes(container, file)),
        volumes=tuple(_volumes(pod, container, file)),
        spans=tuple(spans),
        torch=release[0],
        torch_from=release[1],
        prefixes=inner.prefixes,
        notes=(*notes, *inner.notes),
    )


def _environment(container: Node, maps: Mapping[str, Node], file: str) -> tuple[list[Setting], list[Note]]:
    settings, notes = [], []
    for source in container.get("envFrom").items:
        reference = source.get("configMapRef", "name").text or source.get("secretRef", "name").text
        prefix = source.get("prefix").text
        if reference in maps:
            for key, value in maps[reference].fields.items():
                settings.append(_setting(prefix + key, value.text, value, file))
        elif reference:
            what = f"envFrom {short(reference, 200)} is not seen: give its ConfigMap too"
            notes.append(Note(file=file, where=f"line {source.line}", what=what))
    for entry in container.get("env").items:
        name = entry.get("name").text
        if NAME.match(name):
            settings.append(_setting(name, _value(entry, name, maps), entry, file))
    return settings, notes


def _value(entry: Node, name: str, maps: Mapping[str, Node]) -> str:
    reference = entry.get("valueFrom", "configMapKeyRef")
    known = maps.get(reference.get("name").text)
    if known is not None:
        return known.get(reference.get("key").text).text
    return f"$({name})" if entry.get("valueFrom").fields else entry.get("value").text


def _setting(name: str, value: str, node: Node, file: str) -> Setting:
    """Only ``$(NAME)`` is expanded in a manifest; ``$NAME`` and ``~`` reach the process as they are."""
    return Setting(
        name=name,
        value=short(value),
        place=Place(file=file, line=node.line),
        unexpanded=never_expanded(value),
    )


def _inner(container: Node, file: str) -> Settings:
    """What the container's command says, where that is a script or a launcher."""
    nodes = [*container.get("command").items, *container.get("args").items]
    words = [Word(node.text, node.line or 1) for node in nodes]
    script = launchers.script_of(words)
    if script is not None:
        # A block scalar begins on the line after its key; no line is better than a wrong one.
        read = read_script(script.text, file)
        return _at(read, Place(file=file, line=script.line if nodes[0].line else None))
    text = " ".join("'" + word.text.replace("'", "") + "'" for word in words)
    return _at(read_script(text, file), Place(file=file, line=nodes[0].line if nodes else None))


def _at(read: Settings, place: Place) -> Settings:
    """The same settings, all at one place: lines inside a string of a manifest are not lines of the file."""
    return msgspec.structs.replace(
        read,
        settings=tuple(msgspec.structs.replace(one, place=place) for one in read.settings),
        commands=tuple(msgspec.structs.replace(one, place=place) for one in read.commands),
        spans=tuple(msgspec.structs.replace(one, place=place) for one in read.spans),
    )


def _probes(container: Node, file: str) -> Iterator[Command]:
    for probe in _PROBES:
        command = container.get(probe, "exec", "command")
        if command.items:
            text = " ".join(item.text for item in command.items)
            yield Command(text=short(text), place=Place(file=file, line=command.line), probe=True)


def _volumes(pod: Node, container: Node, file: str) -> Iterator[Volume]:
    kinds = {
        volume.get("name").text: next((key for key in volume.fields if key != "name"), "emptyDir")
        for volume in pod.get("volumes").items
    }
    for mount in container.get("volumeMounts").items:
        kind = kinds.get(mount.get("name").text, "persistentVolumeClaim")
        yield Volume(
            mount=short(mount.get("mountPath").text), kind=kind, place=Place(file=file, line=mount.line)
        )


def _trains(one: Settings) -> bool:
    return any(setting.name.startswith(_OURS) for setting in one.settings) or any(
        _TRAINS.search(command.text) for command in one.commands if not command.probe
    )
