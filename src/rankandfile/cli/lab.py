"""``raf lab``: make hangs with known truth, and score analysers on them."""

from __future__ import annotations

import typer

from . import lab_ablate, lab_answers, lab_export, lab_list, lab_prove, lab_run, lab_score, lab_watch

app = typer.Typer(
    name="lab", help="Make a hang with known truth; score analysers on many.", no_args_is_help=True
)
app.command("list", epilog=lab_list.EXAMPLES)(lab_list.list_scenarios)
app.command("run", epilog=lab_run.EXAMPLES)(lab_run.run)
app.command("export", epilog=lab_export.EXAMPLES)(lab_export.export)
app.command("watch", epilog=lab_watch.EXAMPLES)(lab_watch.watch)
app.command("score", epilog=lab_score.EXAMPLES)(lab_score.score)
app.command("ablate", epilog=lab_ablate.EXAMPLES)(lab_ablate.ablate)
app.command("answers", epilog=lab_answers.EXAMPLES)(lab_answers.answers)
app.command("prove", epilog=lab_prove.EXAMPLES)(lab_prove.prove)
