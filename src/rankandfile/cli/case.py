"""``raf case``: one archive for a support ticket, and back."""

from __future__ import annotations

import typer

from . import case_open, case_pack

app = typer.Typer(
    name="case",
    help="Pack a case for a support ticket, with or without names; open one.",
    no_args_is_help=True,
)
app.command("pack", epilog=case_pack.EXAMPLES)(case_pack.pack)
app.command("open", epilog=case_open.EXAMPLES)(case_open.open_pack)
