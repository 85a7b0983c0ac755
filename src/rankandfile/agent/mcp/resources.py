"""What can be read of a case: the verdict, the report, the investigation, and single facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote

import mcp_types as types
import msgspec
from mcp.shared.exceptions import MCPError

from rankandfile.agent.tool import ToolError
from rankandfile.model.diagnosis import to_json
from rankandfile.render.formats import markdown
from rankandfile.render.words import plain

from .cases import Cases, Opened

PAGE_CHARACTERS = 100_000
_SCHEME = "raf://"
_JSON, _MARKDOWN = "application/json", "text/markdown"


class Document(NamedTuple):
    mime: str
    told: str
    text: Callable[[Opened], str]


DOCUMENTS = {
    "verdict.json": Document(
        _JSON,
        "The diagnosis, as `raf diagnose --format json` prints it.",
        lambda case: to_json(case.bench.diagnosis).decode(),
    ),
    "report.md": Document(
        _MARKDOWN, "The verdict as a text for a ticket.", lambda case: markdown.write(case.bench.diagnosis)
    ),
    "investigation.md": Document(
        _MARKDOWN,
        "The built-in investigation: a post-mortem in which every sentence cites evidence.",
        lambda case: case.investigation.document.encode("utf-8", "replace").decode(),
    ),
    "investigation.jsonl": Document(
        "application/jsonl",
        "The steps of that investigation: tool, arguments, digest of the answer.",
        lambda case: case.investigation.journal.to_jsonl().decode(),
    ),
}


def resources(cases: Cases) -> list[types.Resource]:
    return [
        types.Resource(uri=f"{_SCHEME}{case}/{name}", name=name, description=one.told, mime_type=one.mime)
        for case in cases.names()
        for name, one in DOCUMENTS.items()
    ]


def templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(
            uri_template=f"{_SCHEME}{{case}}/evidence/{{id}}",
            name="evidence",
            description="One fact by its id, such as D0%2384 for D0#84: file, place, and what stands there.",
            mime_type=_JSON,
        ),
        types.ResourceTemplate(
            uri_template=f"{_SCHEME}{{case}}/{{document}}{{?from}}",
            name="rest of a document",
            description=f"A longer document from this character on, {PAGE_CHARACTERS} at a time.",
        ),
    ]


def read(cases: Cases, uri: str) -> types.ReadResourceResult:
    case, _, path = uri.removeprefix(_SCHEME).partition("/")
    if not uri.startswith(_SCHEME):
        raise _no(uri)
    try:
        opened = cases.named(case)
    except ToolError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from error
    with opened.lock:
        if path.startswith("evidence/"):
            return _contents(uri, _JSON, _fact(opened, unquote(path.removeprefix("evidence/")), uri))
        name, _, query = path.partition("?")
        if name not in DOCUMENTS:
            raise _no(uri)
        text = DOCUMENTS[name].text(opened)
    first = parse_qs(query).get("from", ["0"])[-1]
    if not (first.isascii() and first.isdigit() and len(first) < 12):
        raise _no(uri)
    start = int(first)
    result = _contents(uri, DOCUMENTS[name].mime, text[start : start + PAGE_CHARACTERS])
    if start + PAGE_CHARACTERS < len(text):
        rest = f"{_SCHEME}{quote(case)}/{name}?from={start + PAGE_CHARACTERS}"
        result.contents.append(
            types.TextResourceContents(uri=rest, mime_type="text/plain", text=f"It goes on in {rest}")
        )
    return result


def _fact(opened: Opened, evidence_id: str, uri: str) -> str:
    fact = opened.bench.case.evidence(evidence_id)
    if fact is None:
        raise _no(uri)
    told = {key: plain(value) for key, value in msgspec.structs.asdict(fact).items()}
    return msgspec.json.encode(told).decode()


def _contents(uri: str, mime: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=mime, text=text)])


def _no(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"there is no resource '{uri[:200]}'")
