"""Workflow commands of GitHub Actions: each verdict as an annotation of the line that it points to."""

from __future__ import annotations

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.render.headline import headline, sure
from rankandfile.render.long_lists import spoken
from rankandfile.render.places import InTree, Spot, cohort_spots, main_spot, nowhere
from rankandfile.render.words import plain

#: GitHub shows ten annotations of a kind for a step.
MAX_COHORTS = 4


def write(diagnosis: Diagnosis, in_tree: InTree = nowhere) -> str:
    lines = []
    for verdict in diagnosis.verdicts:
        spot = main_spot(verdict)
        said = spoken(verdict.sentence, diagnosis.job.world_size)
        says = " ".join([said, *(f"Do: {remedy.title}." for remedy in verdict.remedies[:1])])
        title = f"{headline(verdict, diagnosis.job.world_size)} ({sure(verdict)})"
        lines.append(_command(_level(verdict), spot, title, says, in_tree))
        for cohort in cohort_spots(verdict, MAX_COHORTS):
            lines.append(_command("notice", cohort, "where they went different ways", cohort.says, in_tree))  # noqa: PERF401
    return "\n".join(lines)


def _level(verdict: Verdict) -> str:
    if verdict.cause == "no_hang" or not verdict.hang:
        return "notice"
    return "warning" if verdict.confidence == "hypothesis" else "error"


def _command(level: str, spot: Spot | None, title: str, says: str, in_tree: InTree) -> str:
    properties = {}
    if spot is not None:
        properties["file"] = in_tree(spot.file) or spot.file
        if spot.line is not None:
            properties["line"] = str(spot.line)
    return command(level, {**properties, "title": title}, says)


def command(level: str, properties: dict[str, str], says: str) -> str:
    """`::error file=train.py,line=3::what is said`."""
    told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {told}::{_data(says)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
