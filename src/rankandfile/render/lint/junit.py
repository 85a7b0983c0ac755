"""JUnit XML: each finding as a test that failed."""

from __future__ import annotations

from xml.etree import ElementTree as xml

from rankandfile.model.lint import LintReport
from rankandfile.render.formats.junit import xml_text


def write(report: LintReport) -> str:
    count = str(len(report.flagged))
    suites = xml.Element("testsuites", name="Rank & File", tests=count, failures=count, errors="0", time="0")
    suite = xml.SubElement(
        suites, "testsuite", name="raf lint", tests=count, failures=count, errors="0", skipped="0", time="0"
    )
    for each in report.flagged:
        name = xml_text(f"{each.rule} at {each.file}:{each.line}")
        case = xml.SubElement(suite, "testcase", classname="rankandfile.lint", name=name, time="0")
        failure = xml.SubElement(case, "failure", type=each.rule, message=xml_text(each.message))
        told = [f"{one.file}:{one.line}: {one.words}" for one in each.story]
        failure.text = xml_text("\n".join([each.code, *told, each.fix]))
    xml.indent(suites)
    return xml.tostring(suites, encoding="unicode", xml_declaration=False)
