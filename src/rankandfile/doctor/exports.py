"""The findings' fixes as lines to paste: shell exports, or the env list of a manifest.

What is printed is meant for ``eval``, and parts of it come from files: only values made of path characters and plain
variables are repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from rankandfile.model.settings import Finding, Launcher
from rankandfile.recorder_names import DUMP_FILE, OLD_DUMP_FILE

_OURS = re.compile(r"\$\(date \+%Y%m%d-%H%M%S\)")
_SHELL = re.compile(r"(?:[A-Za-z0-9_./@%+=:,-]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\})*\Z")
_MANIFEST = re.compile(r"(?:[A-Za-z0-9_./@%+=:,-]|\$\([A-Za-z_]\w*\))*\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PREFIXES = (DUMP_FILE, OLD_DUMP_FILE, "NCCL_DEBUG_FILE")


def corrected(findings: Sequence[Finding]) -> dict[str, str | None]:
    """Name -> value, None to remove it; what the worst finding says of a variable holds."""
    changes: dict[str, str | None] = {}
    for finding in findings:
        for name, value in finding.exports.items():
            changes.setdefault(name, value)
    return changes


def as_shell(findings: Sequence[Finding]) -> Iterator[str]:
    for name, value in sorted(corrected(findings).items()):
        if not _NAME.match(name):
            continue
        if value is None:
            yield f"unset {name}"
        elif _SHELL.match(_OURS.sub("", value)):
            yield f'export {name}="{value}"'
            if name in _PREFIXES and "/" in value:
                yield f'mkdir -p "${{{name}%/*}}"'
        else:
            yield f"# {name}: its value is not repeated here; see the finding"


def as_manifest(findings: Sequence[Finding]) -> Iterator[str]:
    """Entries for ``env:``; what is to be removed stands in comments."""
    changes = sorted(corrected(findings).items())
    if any(value and "$(POD_UID)" in value for _, value in changes):
        yield "- name: POD_UID  # before the entries that use it"
        yield "  valueFrom: {fieldRef: {fieldPath: metadata.uid}}"
    for name, value in changes:
        if not _NAME.match(name):
            continue
        if value is None:
            yield f"# remove {name}"
        elif _MANIFEST.match(value):
            yield f"- name: {name}"
            yield f"  value: {json.dumps(value)}"
        else:
            yield f"# {name}: its value is not repeated here; see the finding"


def lines(findings: Sequence[Finding], launcher: Launcher) -> list[str]:
    wrong = [finding for finding in findings if finding.severity != "ok"]
    return [*(as_manifest(wrong) if launcher == "kubernetes" else as_shell(wrong))]
