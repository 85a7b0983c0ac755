"""The doctor: is the next hang diagnosable, and is anything set that is useless or harmful?"""

from __future__ import annotations

from .examine import examine
from .exports import lines
from .subject import Options

__all__ = ["Options", "examine", "lines"]
