"""What a fuzzer does to the whole way: files of any content to every output, each of which is what it says it is."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema

from rankandfile.evidence.files import worker
from rankandfile.evidence.files.blobs import Blob
from rankandfile.evidence.reading import Reading
from rankandfile.evidence.sorting import case_of
from rankandfile.lab.flight_writer_json import write_json
from rankandfile.model.causes import CAUSES
from rankandfile.reason import conclude, gather
from rankandfile.reason.pictures import pictures
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
_SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/schema/diagnosis-1.json").read_text()))


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def fuzz_outputs(data: bytes) -> None:
    files = []
    for number, content in enumerate(data.split(BETWEEN)[:MOST_FILES]):
        name = f"job/rank_{number}"
        decoded = worker.decode(as_file(content), name)
        files.append((Blob(name, Path("/nowhere"), len(content), 1_770_000_000_000_000_000), decoded))
    case = case_of(files, [], Reading())
    facts = gather(case)
    diagnosis = conclude(facts)
    document = json.loads(whole.write(diagnosis), parse_constant=_no_constant)
    _SCHEMA.validate(document)
    assert all(verdict["cause"] in CAUSES for verdict in document["verdicts"])
    json.loads(sarif.write(diagnosis), parse_constant=_no_constant)
    ET.fromstring(junit.write(diagnosis))
    for text in (markdown.write(diagnosis), github.write(diagnosis)):
        assert "\x1b" not in text
    assert "<script>alert" not in page(diagnosis, pictures(facts, diagnosis), "0")


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
