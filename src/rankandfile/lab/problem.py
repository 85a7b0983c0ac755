"""The problem that a fix pattern gets: as a scenario states it, or as the diagnosis of an incident finds it."""

from __future__ import annotations

from pathlib import Path

from rankandfile.lab.diagnosed import diagnosed
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError, locate
from rankandfile.source.remedies import Problem, Site
from rankandfile.source.remedies.problem import of_verdict


def stated_problem(scenario: Scenario, tree: Path) -> Problem:
    """What the scenario's own words say, and nothing of its fix."""
    if scenario.location is None:
        raise ScenarioError(f"{scenario.name}: states no location")
    place = locate(scenario.location, tree, scenario.name)
    sites = []
    for cohort in scenario.divergence.cohorts:
        at = locate(cohort.at, tree, scenario.name) if cohort.at else None
        sites.append(
            Site(cohort.ranks, cohort.op, at.file, at.line, at.function) if at else Site(cohort.ranks)
        )
    members = {rank for cohort in scenario.divergence.cohorts for rank in cohort.ranks}
    return Problem(
        cause=scenario.cause,
        file=place.file,
        line=place.line,
        function=place.function,
        condition=place.condition,
        culprits=scenario.culprits,
        kind=scenario.divergence.kind,
        whole_job=len(members) == scenario.world_size if members else None,
        sites=tuple(sites),
        world=scenario.world_size,
    )


def problem_of(incident: Path, src: Path) -> Problem | None:
    """What the diagnosis of the incident's evidence says, with its source at hand."""
    diagnosis = diagnosed([incident / "evidence"], [src])
    found = (of_verdict(verdict, diagnosis) for verdict in diagnosis.verdicts)
    return next((problem for problem in found if problem is not None), None)
