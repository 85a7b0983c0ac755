"""A process that reads a case directory and ends: whatever its tables do to it, they do to nobody else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: Memory that tables may take: packed columns of many like rows become a few hundred times their size.
_PER_BYTE = 400
_ALWAYS = 4 << 30
#: Addresses that a process reserves before it reads anything.
_RESERVED = 1 << 30


def main() -> None:
    folder = Path(sys.argv[1])
    # Each thread of the tables' library reserves address space of its own, which counts here.
    os.environ.setdefault("POLARS_MAX_THREADS", "2")
    from rankandfile.evidence.files.worker import limit_memory
    from rankandfile.evidence.reading import NotACase
    from rankandfile.evidence.tables import case_dir

    size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
    limit_memory(min(_ALWAYS + _PER_BYTE * size, _RESERVED + int(sys.argv[2])))
    try:
        case_dir.read(folder)
    except NotACase as error:
        sys.stdout.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
