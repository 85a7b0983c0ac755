"""``raf show``: look at a case by hand."""

from __future__ import annotations

import typer

from . import (
    show_calls,
    show_evidence,
    show_groups,
    show_progress,
    show_reasoning,
    show_ring,
    show_source,
    show_stacks,
    show_timeline,
)

app = typer.Typer(
    name="show",
    help="Look at a case by hand: calls, groups, progress, cohorts, waits, divergence, stacks, timeline, evidence, "
    "source, ring.",
    no_args_is_help=True,
)
app.command("calls", epilog=show_calls.EXAMPLES)(show_calls.calls)
app.command("groups", epilog=show_groups.EXAMPLES)(show_groups.groups)
app.command("progress", epilog=show_progress.EXAMPLES)(show_progress.progress)
app.command("cohorts", epilog=show_reasoning.COHORTS)(show_reasoning.cohorts)
app.command("waits", epilog=show_reasoning.WAITS)(show_reasoning.waits)
app.command("divergence", epilog=show_reasoning.DIVERGENCE)(show_reasoning.divergence)
app.command("stacks", epilog=show_stacks.EXAMPLES)(show_stacks.stacks)
app.command("evidence", epilog=show_evidence.EXAMPLES)(show_evidence.evidence)
app.command("timeline", epilog=show_timeline.EXAMPLES)(show_timeline.timeline)
app.command("source", epilog=show_source.EXAMPLES)(show_source.source)
app.command("ring", epilog=show_ring.EXAMPLES)(show_ring.ring)
