"""JSON, for programs."""

from __future__ import annotations

import msgspec

from rankandfile.model.lint import LintReport


def write(report: LintReport) -> str:
    found = [{**msgspec.to_builtins(each), "fingerprint": each.fingerprint} for each in report.flagged]
    document = {
        "schema": "rankandfile.lint/1",
        "files": report.files,
        "lines": report.lines,
        "findings": found,
        "notes": [str(note) for note in report.notes],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
