"""What a fuzzer does to the whole way: files of any content to every output, each of which is what it says it is."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from io import StringIO
from itertools import cycle
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
from rich.console import Console

from rankandfile.evidence.files import worker
from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.reading import Reading
from rankandfile.evidence.sorting import case_of
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Diagnosis
from rankandfile.reason import Facts, conclude, gather
from rankandfile.reason.pictures import pictures
from rankandfile.render.card import card
from rankandfile.render.formats import github, junit, markdown, sarif
from rankandfile.render.formats import json as whole
from rankandfile.render.report import page
from support.evidence.sample_dumps import one_rank
from support.fuzz.decoder_targets import as_file
from support.fuzz.text_targets import log_seeds, stack_seeds
from support.places import ROOT

#: Between the files of one input.
BETWEEN = b"\n=====\n"
MOST_FILES = 6
#: One input of so many becomes a page, which takes as long as all that leads to it.
PAGES = 8
#: Lists of ranks are ours.
_RANKS = re.compile(r"[\d,:\- ]*")
_SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/diagnosis-1.json").read_text()))


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def fuzz_outputs(data: bytes) -> None:
    facts = _facts(data)
    diagnosis = conclude(facts)
    _written(diagnosis)
    if zlib.crc32(data) % PAGES == 0:
        assert "<script>alert" not in page(diagnosis, pictures(facts, diagnosis), "0")


def fuzz_words(data: bytes) -> None:
    """A diagnosis, every word of which is a stranger's, to every output."""
    models = _models()
    document, facts, fixed = models[data[0] % len(models) if data else 0]
    words = cycle([word.decode("utf-8", "replace") for word in data[1:].split(b"\0")])

    def put(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: put(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [put(one, key) for one in value]
        free = isinstance(value, str) and key not in fixed and not _RANKS.fullmatch(value)
        return next(words) if free else value

    diagnosis = msgspec.convert(put(document), Diagnosis)
    _written(diagnosis)
    with StringIO() as out:
        Console(file=out, width=100).print(card(diagnosis))
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out.getvalue())
    if zlib.crc32(data) % PAGES == 0:
        assert "<script>alert" not in page(diagnosis, pictures(facts, conclude(facts)), "0")


def _written(diagnosis: Diagnosis) -> None:
    """To the outputs of which most inputs go through all."""
    document = json.loads(whole.write(diagnosis), parse_constant=_no_constant)
    _SCHEMA.validate(document)
    assert all(verdict["cause"] in CAUSES for verdict in document["verdicts"])
    json.loads(sarif.write(diagnosis), parse_constant=_no_constant)
    ET.fromstring(junit.write(diagnosis))
    for text in (markdown.write(diagnosis), github.write(diagnosis)):
        assert "\x1b" not in text


def _facts(data: bytes) -> Facts:
    files = []
    for number, content in enumerate(data.split(BETWEEN)[:MOST_FILES]):
        name = f"job/rank_{number}"
        decoded = worker.decode(as_file(content), name)
        files.append((Blob(name, Path("/nowhere"), len(content), 1_770_000_000_000_000_000), decoded))
    return gather(case_of(files, [], Reading()))


@cache
def _models() -> list[tuple[Any, Facts, frozenset[str]]]:
    """Documents to put words into, and those of their keys whose words are not free."""
    found = []
    for facts in map(_facts, output_seeds()[:4]):
        document = msgspec.to_builtins(conclude(facts))
        keys = {name for one in _objects(document) for name, value in one.items() if _has_words(value)}
        found.append((document, facts, frozenset(key for key in keys if not _free(document, key))))
    return found


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(one)


def _has_words(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_has_words, value)))


def _free(document: Any, key: str) -> bool:
    changed = deepcopy(document)
    for one in _objects(changed):
        if _has_words(one.get(key)):
            one[key] = ["any word"] if isinstance(one[key], list) else "any word"
    try:
        found = json.loads(whole.write(msgspec.convert(changed, Diagnosis)))
    except msgspec.ValidationError:
        return False
    return key != "cause" and _SCHEMA.is_valid(found)


def output_seeds() -> list[bytes]:
    dumps = [write_json(one_rank(rank, calls=calls)) for rank, calls in ((0, 3), (1, 2), (2, 3), (3, 1))]
    logs, stacks = [seed[1:] for seed in log_seeds()], [seed[1:] for seed in stack_seeds()]
    some = [BETWEEN.join([*dumps[:2], logs[at]]) for at in range(0, len(logs), 9)]
    return [
        BETWEEN.join(dumps),
        BETWEEN.join([dumps[0], dumps[1], stacks[0], stacks[3]]),
        BETWEEN.join([*logs[:6]]),
        BETWEEN.join([dumps[3], b'<script>alert(1)</script> [rank1]: RuntimeError: "]]>&']),
        *some,
    ]


def word_seeds() -> list[bytes]:
    nasty = [
        b"<script>alert(1)</script>",
        b"]]>&\x00\x1b[31m::error::%0A",
        "\u202e\ufeff\ud7ff`|*_#".encode(),
        b"=1+1\x00@a\x00-b",
    ]
    return [
        bytes([model]) + words
        for model in range(4)
        for words in (*nasty, b"\xff\xfe\x80", b"a\r\nb\x00" * 40)
    ]
