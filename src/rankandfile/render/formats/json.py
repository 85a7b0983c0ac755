"""JSON: the whole diagnosis, for programs. Its keys are frozen by the published schema."""

from __future__ import annotations

from rankandfile.model.diagnosis import Diagnosis, to_json
from rankandfile.render.places import InTree, nowhere


def write(diagnosis: Diagnosis, _in_tree: InTree = nowhere) -> str:
    return to_json(diagnosis).decode()
