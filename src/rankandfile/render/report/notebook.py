"""The verdict part of the page for a notebook: no script, no links, and styles that reach nothing around it."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

from rankandfile.model.diagnosis import Diagnosis

from . import rendered, static
from .citations import Citations

_SCOPE = "raf-diagnosis"
#: A rule of the style sheet: its selectors, up to the brace.
_SELECTORS = re.compile(r"(?m)^([^\s}][^{]*)\{")
_HEADING = re.compile(r"\bh([1-6])\b")
_KEPT = ("class", "title", "scope", "open", "role", "aria-level", "aria-label", "aria-hidden")
_EMPTY = ("br",)


def notebook(diagnosis: Diagnosis) -> str:
    """The verdicts as HTML that can stand in another page, several times if need be."""
    part = _Embedded()
    part.feed(rendered("verdicts.html.j2", diagnosis, Citations(diagnosis)))
    part.close()
    return f'<div class="{_SCOPE}"><style>{scoped(static("verdict.css"))}</style>{"".join(part.out)}</div>'


def scoped(css: str) -> str:
    """The style sheet for what is inside of our element only.

    `h1, .card p { … }` becomes `.raf-diagnosis .h1, .raf-diagnosis .card p { … }`.
    """

    def inside(rule: re.Match[str]) -> str:
        return ", ".join(_inside(one.strip()) for one in rule[1].split(",")) + " {"

    return _SELECTORS.sub(inside, css)


def _inside(selector: str) -> str:
    if selector in (":root", "body"):
        return f".{_SCOPE}"
    return f".{_SCOPE} " + _HEADING.sub(r".h\1", selector)


class _Embedded(HTMLParser):
    """Markup of the page without what works there only: buttons, links, names of places, headings of a document."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.out: list[str] = []
        self._open: list[str | None] = []
        """What closes each element that is open; None: it is left out with all that is in it."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        left_out = self._left_out or "copy" in classes or "unseen" in classes
        if tag in _EMPTY:
            self.out += [] if left_out else [f"<{tag}>"]
            return
        name = {"button": "span", "a": "span"}.get(tag, tag)
        if heading := _HEADING.fullmatch(tag):
            name, attrs = "div", [("class", tag), ("role", "heading"), ("aria-level", heading[1])]
        self._open.append(None if left_out else name)
        if not left_out:
            kept = "".join(
                f' {key}="{escape(value or "")}"'
                for key, value in attrs
                if key in _KEPT and (tag, key) != ("button", "title")
            )
            self.out.append(f"<{name}{kept}>")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY and (name := self._open.pop()) is not None:
            self.out.append(f"</{name}>")

    def handle_data(self, data: str) -> None:
        self._say(data)

    def handle_entityref(self, name: str) -> None:
        self._say(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._say(f"&#{name};")

    @property
    def _left_out(self) -> bool:
        return bool(self._open) and self._open[-1] is None

    def _say(self, text: str) -> None:
        if not self._left_out:
            self.out.append(text)
