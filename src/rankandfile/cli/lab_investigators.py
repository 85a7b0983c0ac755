"""`raf lab score --investigator`: the playbook, and models that go on from it, on incidents with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .asking import choice_of, wishes_of
from .console import out
from .errors import UserError
from .lab_incidents import progressing
from .model_options import Limits

if TYPE_CHECKING:
    from rankandfile.agent.playbook import Draft
    from rankandfile.lab.score.investigators import Added, Consult


def score(
    names: list[str],
    found: list[Path],
    limits: Limits,
    output: Path | None,
    markdown: Path | None,
    worst: bool,
) -> None:
    from rankandfile.lab.score import investigator_page as pages
    from rankandfile.lab.score.investigators import investigated
    from rankandfile.lab.score.page import replaced

    consults = {name: _consult(name, limits) for name in names}
    scores = []
    for name, consult in consults.items():
        with progressing(name, len(found)) as step:
            scores.append(investigated(name, found, consult, step))
    out.print(pages.table(scores))
    if worst:
        for line in pages.worst_lines(scores):
            out.print(line, soft_wrap=True)
    if output is not None:
        output.write_bytes(pages.to_json(scores))
    if markdown is not None:
        text = markdown.read_text(encoding="utf-8") if markdown.exists() else ""
        text = replaced(text, pages.BEGIN, pages.END, pages.block(scores))
        markdown.write_text(text, encoding="utf-8")


def _consult(name: str, limits: Limits) -> Consult | None:
    """Raises `UserError` for what is no investigator."""
    if name == "playbook":
        return None
    kind, _, spec = name.partition(":")
    if kind != "llm":
        raise UserError(f"'{name}' is neither playbook nor llm:MODEL")
    choice = choice_of(spec, need_key=True)

    def consult(draft: Draft) -> Added:
        from rankandfile.agent.llm.consult import consult as ask
        from rankandfile.agent.llm.report import tell
        from rankandfile.agent.tools.propose_verdict import Proposal
        from rankandfile.lab.score.investigators import Added

        account = ask(draft, wishes_of(choice, limits, draft, None, False, False))
        tell(draft, account)
        said = account.verdict
        proposal = None
        if said is not None and said.accepted:
            proposal = Proposal(cause=said.cause, culprits=said.culprits, file=said.file, line=said.line)
        return Added(
            verdict=proposal,
            ended=account.ended,
            findings=len(account.findings),
            dropped=len(account.dropped),
            tokens=account.spent.input_tokens + account.spent.output_tokens,
            cost=account.spent.cost,
        )

    return consult
