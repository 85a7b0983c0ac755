"""An investigation as it is printed: one document, or what a model added and what was proved as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from rankandfile.model.diagnosis import to_json
from rankandfile.model.document import pretty
from rankandfile.render.words import plain

if TYPE_CHECKING:
    from rankandfile.agent.llm.account import Account
    from rankandfile.agent.proof import Proof
    from rankandfile.model.diagnosis import Diagnosis

SCHEMA = "rankandfile.investigation/1"


def document(diagnosis: Diagnosis, account: Account | None, proof: Proof | None) -> str:
    whole = {"schema": SCHEMA, "diagnosis": msgspec.Raw(to_json(diagnosis)), "model": account, "proof": proof}
    return pretty(whole).decode() + "\n"


def model_lines(account: Account | None) -> Iterator[str]:
    """The verdict above is that of the rules; this is the model's."""
    if account is None:
        return
    from rankandfile.agent.llm.account import CONCLUDED
    from rankandfile.agent.llm.report import words_of

    verdict = account.verdict
    if account.ended != CONCLUDED:
        yield f"model     {account.model} did not conclude: {plain(account.ended)}"
    if verdict is not None and verdict.accepted:
        how = {"disagrees": "proposes another verdict", "refines": "confirms, and names another place"}
        yield f"model     {account.model} {how.get(verdict.stance, 'confirms')}: {words_of(verdict)}"
    elif verdict is not None:
        yield f"model     {account.model}: its verdict was not accepted: {plain('; '.join(verdict.why_not))}"
    elif account.ended == CONCLUDED:
        yield f"model     {account.model} proposes no verdict"
    for finding in account.findings:
        yield f"          - {plain(' '.join(finding.split()))}"
    if account.dropped:
        yield f"          {len(account.dropped)} claims dropped: nothing that they cite says them"
    spent = account.spent
    cost = "cost not known" if spent.cost is None else f"${spent.cost:.4f}"
    yield (
        f"          {spent.steps} steps, {spent.input_tokens + spent.output_tokens:,} tokens, {cost}, "
        f"{spent.seconds:.1f} s"
    )


def proof_lines(proof: Proof | None) -> Iterator[str]:
    if proof is None:
        return
    yield f"{'proved' if proof.proved else 'NOT proved':<9} {proof.title}: {plain(proof.words)}"
    yield f"          {proof.with_it.log}" + (f", {proof.without_it.log}" if proof.without_it else "")
