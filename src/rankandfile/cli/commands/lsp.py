"""``raf lsp``: what `raf lint` finds, while it is written."""

from __future__ import annotations

from rankandfile.cli.extras import brought_by
from rankandfile.cli.panels import FIX
from rankandfile.own_python import own_python

PANEL = FIX
ORDER = 156
EXAMPLES = ("raf lsp",)
_WORKER = "from rankandfile.cli.linting.worker import main; sys.exit(main())"


def lsp() -> None:
    """A language server over stdin and stdout: raf lint in an editor, of files as they are there, saved or not.

    Findings with their stories, what a rule is about, the changes that --fix would make, and the comment that says that
    somebody has looked at a place. Editors start it by themselves. Needs pygls: pip install 'rankandfile[lsp]'.
    """
    with brought_by("lsp", "raf lsp needs pygls", "pygls", "lsprotocol", "cattrs"):
        from rankandfile.editor.server import server
    from rankandfile.source.lint.run import pages

    server(own_python(_WORKER), pages()).start_io()
