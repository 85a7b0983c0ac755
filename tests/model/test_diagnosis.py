"""The document that other tools read: its keys are a promise."""

from __future__ import annotations

import json

import msgspec
import pytest
from support.places import SCHEMAS

from rankandfile.model import diagnosis as d
from rankandfile.model.ledger import Evidence, Note

SCHEMA = SCHEMAS / "diagnosis-1.json"

FROZEN = {
    "": {"schema", "job", "verdicts", "evidence", "notes"},
    "job": {"world_size", "ranks_seen", "groups"},
    "verdict": {
        "hang", "cause", "family", "confidence", "sentence", "culprits", "victims", "divergence", "location",
        "waits", "evidence", "alternatives", "remedies", "anti_advice", "probes", "missing_evidence",
    },
    "culprit": {"rank", "host", "doing"},
    "divergence": {"group", "seq", "kind", "cohorts"},
    "cohort": {"ranks", "call"},
    "location": {"file", "line", "function", "condition", "condition_line", "why_it_can_differ"},
    "evidence": {"id", "source", "where", "quote"},
    "note": {"file", "where", "what"},
}  # fmt: skip


def full() -> d.Diagnosis:
    call = d.Call(op="all_reduce", seq=812, file="/workspace/train/trainer.py", line=88, function="step")
    verdict = d.Verdict(
        hang=True,
        cause="skipped_collective",
        family="paths",
        confidence="established",
        sentence="Rank 7 skipped the all_reduce at trainer.py:88.",
        culprits=[d.Culprit(rank=7, host="node07", doing="went on to the next step")],
        victims="0-6,8",
        divergence=d.Divergence(
            group="dp [0-8]",
            seq=812,
            kind="skipped",
            cohorts=[d.Cohort(ranks="0-6,8", call=call), d.Cohort(ranks="7")],
        ),
        location=d.Location(
            file="trainer.py", line=88, function="step", condition="if stop:", condition_line=61
        ),
        waits=[d.Wait(ranks="0-6,8", waits_for="7", group="dp", seq=812, op="all_reduce")],
        evidence=["D7#811"],
    )
    job = d.Job(world_size=9, ranks_seen="0-8", groups=[], group_count=1, calls=9000, dumps=9)
    return d.Diagnosis(
        job=job,
        verdicts=[verdict],
        evidence=[Evidence(id="D7#811", source="trace_7", where="record 811", quote="rank 7: ...")],
        notes=[Note(file="trace_9", where="offset 0", what="the file is empty")],
    )


def test_the_frozen_keys_are_there() -> None:
    document = json.loads(d.to_json(full()))
    verdict = document["verdicts"][0]
    found = {
        "": document,
        "job": document["job"],
        "verdict": verdict,
        "culprit": verdict["culprits"][0],
        "divergence": verdict["divergence"],
        "cohort": verdict["divergence"]["cohorts"][0],
        "location": verdict["location"],
        "evidence": document["evidence"][0],
        "note": document["notes"][0],
    }
    for part, keys in FROZEN.items():
        assert keys <= found[part].keys(), part
    assert document["schema"] == "rankandfile.diagnosis/1"


def test_the_published_schema_accepts_the_document_and_refuses_others() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    document = json.loads(d.to_json(full()))
    jsonschema.validate(document, schema)
    for broken in (
        {**document, "verdicts": "none"},
        {key: value for key, value in document.items() if key != "verdicts"},
        {key: value for key, value in document.items() if key != "schema"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_a_written_document_reads_back() -> None:
    assert d.from_json(d.to_json(full())) == full()


def test_a_document_of_a_later_version_with_more_keys_still_reads() -> None:
    document = {**json.loads(d.to_json(full())), "new_key": 1}
    assert d.from_json(msgspec.json.encode(document)) == full()
