"""Writes the diagnoses and the snapshots anew: `python tests/render/regenerate.py [--only-snapshots]`."""

from __future__ import annotations

import sys

from cards import SNAPSHOTS, WIDTHS, shown
from diagnosed import DOCUMENTED, document, write_documents


def main() -> None:
    if "--only-snapshots" not in sys.argv:
        write_documents()
    SNAPSHOTS.mkdir(exist_ok=True)
    for cause in DOCUMENTED:
        for width in WIDTHS:
            (SNAPSHOTS / f"{cause}.{width}.txt").write_text(shown(document(cause), width), encoding="utf-8")


if __name__ == "__main__":
    main()
