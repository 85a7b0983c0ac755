"""Which torch is installed where, from the metadata of the package: torch is not imported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

_METADATA = re.compile(r"torch-(\d+\.\d+[^-]*)\.dist-info\Z")


def in_prefixes(prefixes: Iterable[str]) -> tuple[str, str] | None:
    """The release in the first of these virtual environments that exists here and has one."""
    for prefix in prefixes:
        try:
            folders = [*Path(prefix).glob("lib*/python3*/site-packages/torch-*.dist-info")]
        except (OSError, ValueError, NotImplementedError):
            continue
        for folder in sorted(folders):
            found = _METADATA.match(folder.name)
            if found:
                return found[1], f"installed in {prefix}"
    return None


def beside_us() -> tuple[str, str] | None:
    """The release that this interpreter would import."""
    try:
        return metadata.version("torch"), "installed beside raf"
    except metadata.PackageNotFoundError:
        return None
