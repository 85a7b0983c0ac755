"""The command `raf` as Python starts it: Ctrl-C is one line from the first moment, also while the rest is loaded."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from .program import main as run

        run()
    except KeyboardInterrupt:
        # Nothing may be loaded yet that could say it.
        sys.stderr.write("raf: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
