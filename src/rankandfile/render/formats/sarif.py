"""SARIF 2.1.0: the verdicts as results, for code scanning and editors."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from rankandfile import __version__
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import SURE, Diagnosis, Verdict
from rankandfile.model.ledger import Note
from rankandfile.render.places import InTree, Spot, cohort_spots, main_spot, nowhere
from rankandfile.render.words import cause_words, culprit_ranks, plain

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_CULPRITS = 16
MAX_NOTES = 100

Json = dict[str, Any]

_LEVELS = {"established": "error", "supported": "warning", "hypothesis": "note"}
_RULES = {cause: number for number, cause in enumerate(CAUSES)}
#: What SARIF reads as a link or a placeholder in a message.
_LINK = re.compile(r"\[(?=[^\]]*\]\()")


def write(diagnosis: Diagnosis, in_tree: InTree = nowhere) -> str:
    run = {
        "tool": {
            "driver": {
                "name": "Rank & File",
                "semanticVersion": __version__,
                "rules": [_rule(cause) for cause in CAUSES],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [_notification(n) for n in diagnosis.notes[:MAX_NOTES]],
            }
        ],
        "results": [_result(verdict, diagnosis, in_tree) for verdict in diagnosis.verdicts],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [clean(run)]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def clean(value: Any) -> Any:
    """Every text of the document without what acts on a terminal or cannot be written."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {name: clean(part) for name, part in value.items()}
    return [clean(part) for part in value] if isinstance(value, list) else value


def _rule(cause: str) -> Json:
    told = CAUSES[cause]
    return {
        "id": cause,
        "name": cause.title().replace("_", ""),
        "shortDescription": {"text": message(told.meaning)},
        "fullDescription": {"text": message(f"{told.meaning} {told.help}")},
        "help": {"text": message(told.help), "markdown": f"**{told.meaning}** {told.help}"},
        "defaultConfiguration": {"level": "none" if cause == "no_hang" else "error"},
        "properties": {"tags": ["distributed", told.family]},
    }


def _result(verdict: Verdict, diagnosis: Diagnosis, in_tree: InTree) -> Json:
    kind = "pass" if verdict.cause == "no_hang" else "fail" if verdict.hang else "open"
    result: Json = {
        "ruleId": verdict.cause,
        "ruleIndex": _RULES[verdict.cause],
        "kind": kind,
        "level": _LEVELS[verdict.confidence] if kind == "fail" else "none",
        "message": {"text": message(verdict.sentence)},
        "partialFingerprints": {"verdict/v1": _fingerprint(verdict)},
        "properties": _properties(verdict, diagnosis),
    }
    if (spot := main_spot(verdict)) is not None:
        # A result is at one place; the processes it is about are named beside it.
        result["locations"] = [{**_location(spot, in_tree), "logicalLocations": _processes(verdict)}]
    elif verdict.culprits:
        result["locations"] = [{"logicalLocations": _processes(verdict)}]
    related = [
        {"id": number, **_told_place(other, in_tree)} for number, other in enumerate(cohort_spots(verdict), 1)
    ]
    if related:
        result["relatedLocations"] = related
    if len(related) > 1:
        result["codeFlows"] = [_code_flow(verdict, in_tree)]
    return result


def _processes(verdict: Verdict) -> list[Json]:
    processes = []
    for culprit in verdict.culprits[:MAX_CULPRITS]:
        name = f"rank {culprit.rank}"
        where = {"fullyQualifiedName": f"{culprit.host}/{name}"} if culprit.host else {}
        processes.append({"name": name, "kind": "process", **where})
    return processes


def _code_flow(verdict: Verdict, in_tree: InTree) -> Json:
    """The way of each cohort: over the condition, where it is known, to its own call."""
    start = []
    where = verdict.location
    if where is not None and where.condition is not None:
        spot = Spot(
            where.file, where.condition_line or where.line, f"went different ways at: {where.condition}"
        )
        start = [{"location": _told_place(spot, in_tree)}]
    return {
        "message": {"text": "What each cohort did where they went different ways"},
        "threadFlows": [
            {
                "id": message(spot.says.partition(":")[0]),
                "locations": [*start, {"location": _told_place(spot, in_tree)}],
            }
            for spot in cohort_spots(verdict)
        ],
    }


def _told_place(spot: Spot, in_tree: InTree) -> Json:
    return {**_location(spot, in_tree), "message": {"text": message(spot.says)}}


def _location(spot: Spot, in_tree: InTree) -> Json:
    physical: Json = {"artifactLocation": artifact(spot.file, in_tree)}
    if spot.line is not None and spot.line > 0:
        physical["region"] = {"startLine": spot.line}
    return {"physicalLocation": physical}


def artifact(path: str, in_tree: InTree) -> Json:
    """The file as a URI: relative to the reader's tree where it is there, else as the process saw it."""
    inside = in_tree(path)
    if inside is not None:
        return {"uri": quote(inside.encode("utf-8", "replace")), "uriBaseId": "%SRCROOT%"}
    if PureWindowsPath(path).drive:
        path = "/" + path.replace("\\", "/")
    encoded = quote(path.encode("utf-8", "replace"))
    return {"uri": f"file://{encoded}" if PurePosixPath(path).is_absolute() else encoded}


def _properties(verdict: Verdict, diagnosis: Diagnosis) -> Json:
    cited = set(verdict.evidence)
    return {
        "tags": [verdict.family],
        "cause": cause_words(verdict.cause),
        "confidence": SURE[verdict.confidence],
        "culprits": culprit_ranks(verdict),
        "victims": verdict.victims,
        "remedies": [f"{remedy.title}: {remedy.text}" for remedy in verdict.remedies],
        "evidence": [
            {"id": one.id, "source": one.source, "where": one.where, "quote": one.quote}
            for one in diagnosis.evidence
            if one.id in cited
        ],
    }


def _notification(note: Note) -> Json:
    return {
        "level": "note",
        "message": {"text": message(str(note))},
        "locations": [{"physicalLocation": {"artifactLocation": artifact(note.file, nowhere)}}],
    }


def _fingerprint(verdict: Verdict) -> str:
    """The same fault in the next run of the job has the same one: no rank, no number of a call."""
    spot = main_spot(verdict)
    function = verdict.location.function if verdict.location else None
    parts = (verdict.cause, spot.file if spot else "", function or "")
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def message(text: str) -> str:
    """Text that SARIF shows as it is: no link, no placeholder."""
    return _LINK.sub(r"\\[", text).replace("{", "{{").replace("}", "}}")
