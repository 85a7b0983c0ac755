"""JUnit XML: the verdicts as test cases, for whatever shows those of a CI run."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.render.headline import headline, sure
from rankandfile.render.long_lists import spoken
from rankandfile.render.places import InTree, main_spot, nowhere
from rankandfile.render.words import (
    base_name,
    cause_words,
    cited,
    culprit_ranks,
    job_size,
    place_text,
    plain,
)


def write(diagnosis: Diagnosis, _in_tree: InTree = nowhere) -> str:
    suites = xml.Element("testsuites", name="Rank & File")
    suite = xml.SubElement(suites, "testsuite", name="raf diagnose")
    about = xml.SubElement(suite, "properties")
    for name, value in (("job", job_size(diagnosis)), ("ranks seen", diagnosis.job.ranks_seen)):
        xml.SubElement(about, "property", name=name, value=xml_text(value))
    failures = errors = 0
    for verdict in diagnosis.verdicts:
        said = spoken(verdict.sentence, diagnosis.job.world_size)
        case = xml.SubElement(suite, "testcase", classname="rankandfile", name=_name(verdict), time="0")
        if verdict.cause == "no_hang":
            continue
        # What is not known is not a pass: an error, beside the failures that are proved.
        open_ = not verdict.hang or (verdict.cause == "undetermined" and not verdict.culprits)
        failures, errors = failures + (not open_), errors + open_
        told = xml.SubElement(
            case, "error" if open_ else "failure", type=verdict.cause, message=xml_text(said)
        )
        told.text = "\n".join(_details(verdict, said, diagnosis))
    for element in (suites, suite):
        element.set("tests", str(len(diagnosis.verdicts)))
        element.set("failures", str(failures))
        element.set("errors", str(errors))
        element.set("time", "0")
    suite.set("skipped", "0")
    xml.indent(suites)
    return xml.tostring(suites, encoding="unicode", xml_declaration=False)


def _name(verdict: Verdict) -> str:
    spot = main_spot(verdict)
    where = f" at {place_text(base_name(spot.file), spot.line)}" if spot else ""
    return xml_text(f"{cause_words(verdict.cause)}{where}")


def _details(verdict: Verdict, said: str, diagnosis: Diagnosis) -> list[str]:
    lines = [f"{headline(verdict, diagnosis.job.world_size)} ({sure(verdict)})", said]
    if verdict.culprits:
        lines.append(f"culprits: {culprit_ranks(verdict)}")
    if verdict.victims:
        lines.append(f"{'victims' if verdict.culprits else 'stuck'}: {verdict.victims}")
    lines += [f"do: {remedy.title}: {remedy.text}" for remedy in verdict.remedies]
    lines += [f"do not: {advice}" for advice in verdict.anti_advice]
    lines += [
        f"proof: {one.id}: {one.quote} ({one.source}, {one.where})" for one in cited(diagnosis, verdict)
    ]
    return [xml_text(line) for line in lines]


def xml_text(text: str) -> str:
    """XML 1.0 has no way to write control characters, lone surrogates, U+FFFE and U+FFFF."""
    return plain(text).replace("\ufffe", " ").replace("\uffff", " ")
