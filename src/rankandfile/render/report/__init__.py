"""``report.html``: the whole diagnosis on one page that needs nothing but a browser.

The text is HTML that stands without scripts; the score and what moves are drawn by one script. Whatever comes from
evidence is text: escaped in the page, set by `textContent` in the script, and a policy lets no other script run.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

import jinja2
from markupsafe import Markup

from rankandfile.model.claims import of_group
from rankandfile.model.diagnosis import SURE, Diagnosis, Verdict
from rankandfile.model.pictures import Pictures
from rankandfile.render.headline import cause_beside, headline, place, points_at_missing_call, sure
from rankandfile.render.long_lists import spoken
from rankandfile.render.source import stands_at
from rankandfile.render.words import alike_culprits, came_to, counted, flagged_text, waiters

from .citations import Citations
from .code import patch, python
from .flame import flame
from .graph import Drawing, drawn
from .payload import blocks, payload
from .score_table import score_table
from .words import CONFIDENCE, STATES, odd_first, prose, visible

#: The script, in this order: what stands at the top level of a part may use the parts before it.
_PARTS = (
    "basics", "theme", "tracks", "colours", "view", "cells", "afar", "margins", "pointing",
    "finding", "listening", "page",
)  # fmt: skip

#: Notes and evidence beyond this many are counted, not listed.
_MOST_NOTES = 500
_MOST_EVIDENCE = 2000


def page(diagnosis: Diagnosis, pictures: Pictures, version: str) -> str:
    """The page as text. `version` is that of Rank & File."""
    css, script = static("verdict.css") + static("report.css"), _script()
    citations = Citations(diagnosis)
    sheets = pictures.score.sheets
    return rendered(
        "page.html.j2", diagnosis, citations, version=version,
        waiters=waiters, of_group=of_group, stands_at=stands_at, state_words=STATES,
        evidence=citations.listed[:_MOST_EVIDENCE],
        evidence_left_out=max(0, len(citations.listed) - _MOST_EVIDENCE),
        notes=diagnosis.notes[:_MOST_NOTES], notes_left_out=max(0, len(diagnosis.notes) - _MOST_NOTES),
        score=pictures.score, score_table=score_table(pictures.score, sheets[0]) if sheets else None,
        graph=drawn(pictures.waits) if pictures.waits.nodes else Drawing(),
        stacks=pictures.stacks, flame=flame(pictures.stacks),
        css=Markup(css), script=Markup(script), data=Markup(payload(pictures)), cells=list(blocks(pictures)),
        style_hash=_hash(css), script_hash=_hash(script),
    )  # fmt: skip


def rendered(template: str, diagnosis: Diagnosis, citations: Citations, **more: object) -> str:
    """A template of this room, given what its parts say of a verdict, and `more`."""

    def said(verdict: Verdict) -> str:
        return headline(verdict, diagnosis.job.world_size)

    return _environment().get_template(template).render(
        job=diagnosis.job, verdicts=diagnosis.verdicts, citations=citations, alike_culprits=alike_culprits,
        came_to=came_to, odd_first=odd_first, headline=said, headline_place=place,
        points_at_missing_call=points_at_missing_call,
        spoken=lambda sentence: spoken(sentence, diagnosis.job.world_size),
        cause_beside=cause_beside, how_sure=sure, confidence_words=CONFIDENCE, sure=SURE, noun=counted,
        **more,
    )  # fmt: skip


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankandfile.render.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )
    environment.filters |= {"prose": prose, "flagged": flagged_text, "python": python, "patch": patch}
    return environment


def _script() -> str:
    """One script of many parts, with no name of its own outside."""
    parts = "\n".join(static(f"script/{name}.js") for name in _PARTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def static(name: str) -> str:
    return resources.files(__package__).joinpath("static").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a Content-Security-Policy names an inline script or style that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
