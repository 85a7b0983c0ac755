"""A baseline: the analyser of dumps in NVIDIA's resiliency extension, where it is installed, on completed dumps.

python -m rankandfile.lab.benchmark.nvrx EVIDENCE
"""

from __future__ import annotations

import sys

from rankandfile.lab.score.analysers import nvrx

from .fr_trace import main

if __name__ == "__main__":
    sys.exit(main(nvrx))
