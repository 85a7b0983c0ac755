"""``python -m rankandfile`` is ``raf``."""

from rankandfile.cli.main import main

main()
