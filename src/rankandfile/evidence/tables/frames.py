"""Which frame of a stack is the program's: the call site."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

#: torch's own Python files, our recorder's and guards', the interpreter's, and C++ frames (which carry a bare file
#: name, a library or none).
_TORCH = re.compile(
    r"(?:^|[/\\])(?:site|dist)-packages[/\\]torch[/\\]|^torch[/\\]"
    r"|[/\\]rankandfile[/\\]runtime[/\\]"
    r"|\.so[.\d]*$|(?:^|[/\\])(?:lib)?python3[.\d]*$"
    r"|[/\\]torch[/\\](?:distributed|_dynamo|_functorch|_inductor|autograd|nn|optim|utils|fx|_ops|_tensor|cuda)\b"
    r"|^<|^\?\?$|^[\w.-]+\.(?:c|cc|cpp|cu|h|hpp|S)$|\.(?:c|cc|cpp|cxx|cu|h|hpp)$"
    r"|[/\\]lib[/\\]python3[.\d]*[/\\](?!(?:site|dist)-packages)"
)


def is_torch_frame(file: str) -> bool:
    return _TORCH.search(file) is not None or _is_short_library(file)


def _is_short_library(file: str) -> bool:
    """A file of the standard library, named as py-spy does: relative to where Python found it."""
    first = file.replace("\\", "/").partition("/")[0]
    return first.removesuffix(".py") in sys.stdlib_module_names and file.endswith(".py")


def site_of(stack: Sequence[int], is_torch: Sequence[bool], is_framework: Sequence[bool]) -> int | None:
    """The innermost frame (the stack begins there) of the user's own; else not torch's; else any; or none."""
    outside = [frame for frame in stack if not is_torch[frame]]
    own = (frame for frame in outside if not is_framework[frame])
    return next(own, next(iter(outside or stack), None))
