"""Writes the diagnoses and the snapshots anew: `python -m support.render.regenerate [--only-snapshots]`."""

from __future__ import annotations

import sys

from support.render.cards import SNAPSHOTS, WIDTHS, shown
from support.render.diagnosed import DOCUMENTED, document, write_documents


def main() -> None:
    if "--only-snapshots" not in sys.argv:
        write_documents()
    SNAPSHOTS.mkdir(exist_ok=True)
    for cause in DOCUMENTED:
        for width in WIDTHS:
            (SNAPSHOTS / f"{cause}.{width}.txt").write_text(shown(document(cause), width), encoding="utf-8")


if __name__ == "__main__":
    main()
