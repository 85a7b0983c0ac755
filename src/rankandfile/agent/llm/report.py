"""What a model added, in the words of the post-mortem: told apart from the rules', and with what was dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankandfile.agent.claims.parse import CitedSentence, Quote, parts
from rankandfile.agent.document import Document, Section
from rankandfile.agent.playbook import Draft
from rankandfile.agent.prose import cited
from rankandfile.agent.result import who
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.markdown import code, text
from rankandfile.render.words import plain

from .account import CONCLUDED, Account, ModelVerdict

#: What follows is about the investigation, and no claim about the job: nothing of it is checked.
ABOUT = "## About the model"
_LOCATED = re.compile(r"(?:\w+\s+)?([\w./-]+\.py):(\d+)(?:-(\d+))?$")
_MOST_SHOWN = 400


def tell(draft: Draft, account: Account) -> None:
    """Its sections, behind those of the rules."""
    found = draft.document.section("What the model adds")
    for finding in account.findings:
        _finding(draft, found, finding)
    if account.verdict is not None and account.verdict.accepted:
        _verdict(draft.document, account.verdict)
    if account.fix is not None:
        draft.document.section("The fix that the model proposes").diff(account.fix)


def _finding(draft: Draft, section: Section, finding: str) -> None:
    """Written anew from what was checked, so that nothing else of it reaches the page."""
    for part in parts(finding):
        if isinstance(part, CitedSentence):
            section.blocks.append(f"- {cited(part.words, part.ids)}")
        elif isinstance(part, Quote) and (place := _LOCATED.match(part.info)):
            lines = draft.bench.source_lines(place[1]) or []
            first = int(place[2])
            section.quote(place[1], lines, first, first + len(part.text) - 1)


def _verdict(document: Document, verdict: ModelVerdict) -> None:
    section = document.section("The verdict of the model")
    how = {
        "confirms": "The model confirms a verdict of the rules",
        "refines": "The model confirms a verdict of the rules, and proposes another place for it",
        "disagrees": "The model proposes another verdict than the rules, which they do not share",
    }[verdict.stance]
    section.say(f"{how}: {words_of(verdict)}.", (*verdict.evidence, verdict.step))
    if verdict.file is not None and verdict.line is not None:
        condition = f", by `{verdict.condition}`" if verdict.condition else ""
        at = f"{verdict.file}:{verdict.line}"
        section.say(
            f"Its place is {at}{condition}.", (at, verdict.step) if verdict.file.endswith(".py") else ()
        )


def words_of(verdict: ModelVerdict) -> str:
    ranks = parse_ranks(verdict.culprits) if verdict.accepted and verdict.culprits else []
    return f"{verdict.cause} of {who(ranks) if ranks else 'nobody'} ({verdict.confidence})"


def about(account: Account) -> str:
    """The last section: who was asked, what it took, and what was dropped."""
    lines = [ABOUT, ""]
    lines += [f"- {one}" for one in _facts(account)]
    if account.dropped:
        lines += ["", "Claims that nothing supports, and that were dropped:", ""]
        for one in account.dropped:
            shown = " ".join(plain(one.text).split())[:_MOST_SHOWN]
            lines.append(f"- {code(shown.replace('`', chr(39)))}: {text(plain('; '.join(one.why)))}")
    return "\n".join(lines) + "\n"


def _facts(account: Account) -> Iterator[str]:
    yield f"Asked was {code(account.model)} at {code(account.destination)}" + (
        ", with pseudonyms for names." if account.redacted else "."
    )
    spent = account.spent
    about = "about " if spent.estimated else ""
    cost = "at a price that is not known" if spent.cost is None else f"${spent.cost:.4f}"
    yield (
        f"It took {spent.requests} requests, {spent.steps} steps, {about}{spent.input_tokens:,} tokens sent and "
        f"{spent.output_tokens:,} received, {cost}, {spent.seconds:.1f} s."
    )
    if account.ended != CONCLUDED:
        yield f"It did not conclude: {text(account.ended)}."
    if account.sent_back:
        yield f"{account.sent_back} claims were sent back, as what they cite does not say them."
    verdict = account.verdict
    if verdict is not None and not verdict.accepted:
        yield f"Its verdict was not accepted: {text(plain('; '.join(verdict.why_not)))}."
    yield "What is said outside the sections that name the model is the rules'."
