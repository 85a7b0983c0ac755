"""What `raf lab prove` found, as a block of a page."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

from rankandfile.lab.prove import Proof
from rankandfile.lab.score.page import replaced

BEGIN, END = "<!-- proofs: begin -->", "<!-- proofs: end -->"
OF_SETS, END_OF_SETS = "<!-- proofs of sets: begin -->", "<!-- proofs of sets: end -->"
_LONGEST = 160


def write_page(page: Path, proofs: Sequence[Proof]) -> None:
    """Replace the block between the page's markers; without markers, append it. Opened sets have their own."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    begin, end, lines = (
        (OF_SETS, END_OF_SETS, _of_sets(proofs))
        if any("/" in p.scenario for p in proofs)
        else (BEGIN, END, _lines(proofs))
    )
    page.write_text(replaced(text, begin, end, lines), encoding="utf-8")


def _of_sets(proofs: Sequence[Proof]) -> Iterator[str]:
    """A row for each patch; cases without one are counted."""
    offered = [proof for proof in proofs if proof.title]
    refused = [proof for proof in proofs if not proof.title and proof.words]
    sets = dict.fromkeys(proof.scenario.partition("/")[0] for proof in proofs)
    cases = {proof.scenario for proof in proofs}
    held, with_one = sum(proof.held for proof in offered), len({proof.scenario for proof in offered})
    failed = sum(proof.ran and not proof.held for proof in offered)
    unseen = len(offered) - held - failed
    yield f"* {len(cases)} programs that hang, of {len(sets)} opened sets: {', '.join(sets)}"
    yield (
        f"* {len(offered)} patches offered for {with_one} of them: {held} proved by a run, {failed} that did not hold"
        + (f", {unseen} not run (something that the program needs was not installed)" if unseen else "")
    )
    yield (
        f"* refused, with the reason, for {len(refused)}; nothing to say of a patch for the other "
        f"{len(cases) - with_one - len(refused)}: no place in the source, or no pattern for the cause"
    )
    yield f"* places diagnosed from the sets' own evidence; guards; Python {platform.python_version()}"
    yield ""
    yield "| program | patch | its run |"
    yield "| --- | --- | --- |"
    for proof in offered:
        yield f"| `{proof.scenario}` | {proof.title} | {_said(proof)} |"
    yield ""
    yield "| program | why there is no patch |"
    yield "| --- | --- |"
    for proof in refused:
        yield f"| `{proof.scenario}` | {_cut(proof.words)} |"


def _lines(proofs: Sequence[Proof]) -> Iterator[str]:
    by_scenario: dict[str, dict[str, Proof]] = {}
    for proof in proofs:
        by_scenario.setdefault(proof.scenario, {})[proof.what] = proof
    for what, words in (("remedy", "patches"), ("probe", "probes")):
        of_it = [proof for proof in proofs if proof.what == what]
        if of_it:
            held, offered = sum(proof.held for proof in of_it), sum(bool(proof.pattern) for proof in of_it)
            yield f"* {held} of {offered} {words} hold"
            if what == "remedy":
                yield f"* {offered} offered, {held} proved by a run, {len(of_it) - offered} refused or without a place"
    origin = "diagnosed from a fresh hang" if proofs and proofs[0].origin == "diagnosis" else "as stated"
    how = "plain torch" if proofs and proofs[0].plain else "guards"
    yield f"* one run; places {origin}; {how}; Python {platform.python_version()}"
    yield ""
    yield "| scenario | patch | its run | what the probe says |"
    yield "| --- | --- | --- | --- |"
    for scenario, found in by_scenario.items():
        remedy, probe = found.get("remedy"), found.get("probe")
        pattern = f"`{remedy.pattern}`" if remedy is not None and remedy.pattern else ""
        yield f"| `{scenario}` | {pattern} | {_said(remedy)} | {_said(probe)} |"


def _said(proof: Proof | None) -> str:
    if proof is None:
        return ""
    words = _cut(proof.words)
    if proof.held or not (proof.title or proof.pattern):
        return words  # where it was refused, why
    return f"**does not hold**: {words}" if proof.ran else f"not run: {words}"


def _cut(words: str) -> str:
    words = words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
    return words.replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
