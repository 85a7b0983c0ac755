"""What the fixtures `decode` and `load_files` are."""

from __future__ import annotations

from collections.abc import Callable

from rankandfile.evidence.files.decoded import Decoded
from rankandfile.model.case import Case

Decode = Callable[..., Decoded]
LoadFiles = Callable[..., Case]
