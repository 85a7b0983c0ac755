"""The picture of a verdict as one SVG: the calls at which the ranks parted, and who waits for whom.

It has a ground of its own, so that it can be read on dark pages and on light ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rankandfile.model.diagnosis import Cohort, Diagnosis, Verdict
from rankandfile.model.pictures import WaitGraph, WaitNode
from rankandfile.model.ranks import parse_ranks
from rankandfile.render.report.graph import Drawing, drawn
from rankandfile.render.words import alike_culprits, came_to, short

_MARGIN, _ROW, _SQUARE, _HEAD = 18, 34, 22, 30
_LABEL, _CALL = 180, 400
_STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1a2028 }
.head { font-size: 12px; fill: #505b69 }
.title { font-weight: 600 }
.ground { fill: #ffffff; stroke: #d8dde4 }
.square { fill: #c9d3de }
.victim rect { fill: #e9f1f8; stroke: #2d628f }
.culprit rect { fill: #fdeee4; stroke: #d55e00; stroke-width: 2 }
.other rect { fill: #f2f4f7; stroke: #8a94a3 }
.gone rect { fill: none; stroke-dasharray: 5 4 }
.arrow { fill: none; stroke: #2d628f; stroke-width: 1.6 }
.hot { stroke: #d55e00; stroke-width: 2.2 }
.unsure { stroke-dasharray: 5 4 }
""".strip()


def picture(diagnosis: Diagnosis, waits: WaitGraph) -> str:
    verdict = diagnosis.verdicts[0]
    head = "Who waits for whom: an arrow leads to whoever must move first"
    if not waits.nodes:
        waits, head = _alone(diagnosis), "Who is left" if verdict.culprits else "Nobody waits for another"
    parts: list[str] = []
    width, y = 0.0, float(_MARGIN)
    cohorts = verdict.divergence.cohorts if verdict.divergence is not None else []
    if len(cohorts) > 1 and verdict.divergence is not None:
        group, seq = verdict.divergence.group, verdict.divergence.seq
        what = f"The calls in {group} at which the ranks part" + ("" if seq is None else f": number {seq}")
        parts += [_head(what, y), *_strip(verdict, cohorts, y + _HEAD)]
        y += _HEAD + _ROW * len(cohorts) + 12
        width = _MARGIN * 2 + _LABEL + 3 * (_SQUARE + 6) + _CALL
    if waits.nodes:
        graph = drawn(waits)
        parts += [_head(head, y)]
        parts += [f'<g transform="translate(4,{y + 12:.0f})">', *_graph(graph), "</g>"]
        y += graph.height + 12
        width = max(width, graph.width + 8)
    height = y + 4
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}">',
            f"<style>{_STYLE}</style>",
            '<marker id="tip" viewBox="0 0 8 8" refX="5" refY="4" markerWidth="9" markerHeight="9" '
            'markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#1a2028"/></marker>',
            f'<rect class="ground" x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _alone(diagnosis: Diagnosis) -> WaitGraph:
    """Where nobody waits: those who are blamed all the same, or else everybody."""
    verdict, job = diagnosis.verdicts[0], diagnosis.job
    if verdict.culprits:
        nodes = [
            WaitNode(
                ranks=ranks,
                count=len(parse_ranks(ranks)),
                role="culprit",
                says=[doing, "nobody waits for it"],
            )
            for ranks, _, doing in alike_culprits(verdict)
        ]
    else:
        count = len(parse_ranks(job.ranks_seen))
        says = ["every call that was recorded has ended"]
        nodes = [WaitNode(ranks=job.ranks_seen, count=count, role="", says=says)]
    return WaitGraph(nodes=nodes)


def _head(words: str, y: float) -> str:
    return f'<text class="head" x="{_MARGIN}" y="{y + 8:.0f}">{escape(words)}</text>'


def _strip(verdict: Verdict, cohorts: list[Cohort], top: float) -> Iterator[str]:
    """A row for each cohort: the calls before, which are alike, and the one that is not."""
    culprits = {culprit.rank for culprit in verdict.culprits}
    for number, cohort in enumerate(cohorts):
        y = top + number * _ROW
        ranks = parse_ranks(cohort.ranks)
        role = "culprit" if culprits and set(ranks) <= culprits else "victim"
        label = ("rank " if len(ranks) == 1 else "ranks ") + short(cohort.ranks, most=22)
        yield f'<text class="title" x="{_MARGIN}" y="{y + 15}">{escape(label)}</text>'
        x = _MARGIN + _LABEL
        before = 3 if cohort.call is None or cohort.call.seq is None else cohort.call.seq - 1
        for _ in range(min(3, before)):
            yield f'<rect class="square" x="{x}" y="{y}" width="{_SQUARE}" height="{_SQUARE}" rx="3"/>'
            x += _SQUARE + 6
        gone = " gone" if cohort.call is None else ""
        yield (
            f'<g class="{role}{gone}"><rect x="{x}" y="{y}" width="{_CALL - 12}" height="{_SQUARE}" rx="3"/>'
            f'<text x="{x + 8}" y="{y + 15}">{escape(short(came_to(verdict, cohort), most=56))}</text></g>'
        )


def _graph(graph: Drawing) -> Iterator[str]:
    for arrow in graph.arrows:
        kind = f"{' hot' if arrow.cycle or arrow.culprit else ''}{'' if arrow.known else ' unsure'}"
        yield f'<path class="arrow{kind}" d="{arrow.path}" marker-end="url(#tip)"/>'
    for box in graph.boxes:
        yield f'<g class="{box.node.role or "other"}" transform="translate({box.x:.0f},{box.y:.0f})">'
        yield f'<rect width="{box.width}" height="{box.height:.0f}" rx="6"/>'
        yield f'<text class="title" x="12" y="23">{escape(box.title)}</text>'
        for number, line in enumerate(box.lines, 1):
            yield f'<text x="12" y="{23 + 17 * number}">{escape(line)}</text>'
        yield "</g>"
