"""Kills recording processes at random moments, and checks what each left: `python -m support.runtime.torture 500`.

It fails for a ring that cannot be read, lacks a record that was acknowledged, or has one that was not made.
"""

from __future__ import annotations

import argparse
import os
import tempfile


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=500)
    parser.add_argument("--writer", choices=("python", "native"), default="python")
    arguments = parser.parse_args()
    os.environ["RAF_NATIVE"] = "0" if arguments.writer == "python" else "1"
    from support.runtime import recorder_programs as programs

    with tempfile.TemporaryDirectory() as folder:
        found = programs.torture(folder, arguments.kills)
    print(f"{arguments.writer}: {found}")


if __name__ == "__main__":
    main()
