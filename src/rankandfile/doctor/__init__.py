"""Settings and launch files in, advice out: is the next hang diagnosable, and is anything useless or harmful set?"""

from __future__ import annotations

from .examine import examine
from .exports import lines
from .job_setup import Options

__all__ = ["Options", "examine", "lines"]
