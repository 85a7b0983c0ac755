"""The page in HTML: the verdict first, then where each rank stands."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

from jinja2 import Environment
from markupsafe import Markup

from rankandfile.capture.debug.job import Rank
from rankandfile.capture.debug.verdict import Judged

LINKS = (
    ("/", "Verdict"),
    ("/report", "Report"),
    ("/stacks", "Stacks"),
    ("/fr_trace", "Calls"),
    ("/fr_trace_json", "(JSON)"),
    ("/wait_counters", "Wait counters"),
    ("/tcpstore", "TCPStore"),
)

_STYLE = """
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1c2024; background: #fff }
nav { background: #eef0f2; padding: .7rem 1rem } nav a { margin-right: 1rem }
main { max-width: 80rem; margin: 0 auto; padding: 1rem }
pre { overflow-x: auto; background: #f7f8f9; padding: .8rem; font-size: 13px }
td, th { text-align: left; padding: .15rem 1rem .15rem 0 }
@media (prefers-color-scheme: dark) { body { color: #e3e6e9; background: #16191c } nav, pre { background: #22272b }
  a { color: #7fb4ff } }
"""
#: As a Content-Security-Policy names a style that may stand in a page.
STYLE_HASH = "sha256-" + b64encode(sha256(_STYLE.encode()).digest()).decode()

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }} - Rank &amp; File</title>
<meta name="viewport" content="width=device-width">
<style>{{ style }}</style></head><body>
<nav>{% for path, label in links %}<a href="{{ path }}">{{ label }}</a>{% endfor %}</nav>
<main><h1>{{ title }}</h1>
{% if said %}<p>{{ said }}</p>{% endif %}
<pre>{{ text }}</pre>
{% if rows %}<table><tr><th>rank</th><th>host</th><th>pid</th><th>state</th><th>calls</th></tr>
{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>{% endfor %}</table>
<p>Pickles for torch's fr_trace:
{% for row in rows %}<a href="/pickle?rank={{ row[0] }}">rank {{ row[0] }}</a> {% endfor %}</p>
{% endif %}</main></body></html>
"""
_TEMPLATE = Environment(autoescape=True).from_string(_PAGE)


def page(title: str, text: str, said: str = "", rows: Sequence[tuple[object, ...]] = ()) -> str:
    return _TEMPLATE.render(title=title, text=text, said=said, rows=rows, links=LINKS, style=Markup(_STYLE))


def front(verdict: Judged, found: Sequence[Rank], world: int) -> str:
    seconds = max(0.0, time.time() - verdict.at)
    said = f"As of {seconds:.0f} s ago. {len(found)} of {world} ranks seen."
    rows = [(one.seen.rank, one.seen.host, one.seen.pid, _state(one), one.seen.calls) for one in found]
    return page("Verdict", verdict.text, said, rows)


def _state(one: Rank) -> str:
    if not one.here:
        return "on another node, as of its last dump"
    if not one.seen.lives:
        return "ended" if one.seen.closed else "gone"
    return "in a call" if one.seen.open else "between calls"
