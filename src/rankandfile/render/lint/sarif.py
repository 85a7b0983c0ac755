"""SARIF 2.1.0: the findings as results, for code scanning and editors."""

from __future__ import annotations

import json
from typing import Any

from rankandfile import __version__
from rankandfile.model.lint import Flagged, LintReport, Told
from rankandfile.render.formats.sarif import SCHEMA, artifact, clean, message

Json = dict[str, Any]
_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}


def write(report: LintReport) -> str:
    numbers = {rule: number for number, (rule, _meaning) in enumerate(report.rules)}
    driver = {
        "name": "Rank & File",
        "semanticVersion": __version__,
        "rules": [
            {"id": rule, "shortDescription": {"text": message(meaning)}} for rule, meaning in report.rules
        ],
    }
    results = [_result(each, numbers) for each in report.flagged]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [clean(run)]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def _result(each: Flagged, numbers: dict[str, int]) -> Json:
    steps = [{"location": _location(told)} for told in each.story]
    result: Json = {
        "ruleId": each.rule,
        "ruleIndex": numbers[each.rule],
        "level": _LEVELS[each.severity],
        "message": {"text": message(f"{each.message}. {each.fix}".strip())},
        "locations": [{"physicalLocation": _physical(each.file, each.line)}],
        "partialFingerprints": {"finding/v1": each.fingerprint},
    }
    if steps:
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return result


def _location(told: Told) -> Json:
    return {"physicalLocation": _physical(told.file, told.line), "message": {"text": message(told.words)}}


def _physical(file: str, line: int) -> Json:
    where = artifact(file, lambda path: None if path.startswith("/") else path)
    return {"artifactLocation": where, "region": {"startLine": max(line, 1)}}
