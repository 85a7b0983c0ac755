"""``raf lab prove``: do the patches and probes hold? Each is put into a hang's source and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from rich.text import Text
from typer import Argument, Exit, Option

from rankandfile.cli.console import out
from rankandfile.cli.errors import UserError
from rankandfile.cli.lab_incidents import ScenariosAtATime, as_they_end, kind_of, say
from rankandfile.cli.output import file_output

if TYPE_CHECKING:
    from rankandfile.lab.prove import Origin, Proof, What
    from rankandfile.lab.scenario import Scenario

ORDER = 80
EXAMPLES = (
    "raf lab prove early_stop_local",
    "raf lab prove --all --output proofs.json",
    "raf lab prove nan_batch_skipped --remedies --plain --show",
    "raf lab prove rounds/round-1 rounds/round-2a --markdown docs/fixes.md",
)


def prove(
    names: Annotated[
        list[str] | None, Argument(help="Real scenarios, or folders of opened blind sets.")
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="Every scenario in which ranks take different paths.")
    ] = False,
    remedies: Annotated[
        bool, Option("--remedies", help="Only the patches that fix it: the job must finish.")
    ] = False,
    probes: Annotated[
        bool,
        Option("--probes", help="Only the checks: the job must fail at once and name ranks and decision."),
    ] = False,
    plain: Annotated[
        bool, Option("--plain", help="Patches in plain torch, without rankandfile.guard.")
    ] = False,
    diagnosed: Annotated[
        bool,
        Option(
            "--diagnosed/--stated",
            help="Make the hang and diagnose it with its source, or take the place that the scenario states.",
        ),
    ] = True,
    jobs: ScenariosAtATime = 2,
    show: Annotated[bool, Option("--show", help="Print each patch too.")] = False,
    output: Annotated[
        Path | None,
        file_output("Write the results as JSON."),
    ] = None,
    markdown: Annotated[
        Path | None, Option("--markdown", help="Write the table into this page, between its markers.")
    ] = None,
) -> None:
    """Put the generated patch, and then the generated probe, into the source of a hang, and run both afresh.

    Of an opened set, every patch that is offered for a case by its evidence is applied to its program, which is run.
    A remedy holds if every rank ends with 0 and all made the same calls; a probe if the job fails before the ranks
    make different calls, with a line that names the odd ranks and the decision. Exit status: 1 if one does not hold.
    """
    folders = [Path(name) for name in names or () if (Path(name) / "set.toml").is_file()]
    chosen = (
        _chosen([name for name in names or () if Path(name) not in folders], everything)
        if not folders
        else []
    )
    what: tuple[What, ...] = (
        ("remedy",)
        if remedies and not probes
        else ("probe",)
        if probes and not remedies
        else ("remedy", "probe")
    )
    if folders and (everything or plain or len(folders) < len(names or ())):
        raise UserError(
            "opened sets are proved by themselves, as they are: without scenarios, --all and --plain"
        )
    proofs = (
        _prove_sets(folders, jobs)
        if folders
        else _prove_all(chosen, what, plain, "diagnosis" if diagnosed else "truth", jobs)
    )
    out.print(_table(proofs))
    offered = [proof for proof in proofs if proof.title or not folders]
    out.print(f"{sum(proof.held for proof in offered)} of {len(offered)} hold")
    if show:
        for proof in proofs:
            out.print(f"\n{proof.scenario}: {proof.title}")
            out.print(proof.diff, soft_wrap=True)
    if output is not None:
        import msgspec

        output.write_text(json.dumps(msgspec.to_builtins(proofs), indent=1) + "\n", encoding="utf-8")
    if markdown is not None:
        from rankandfile.lab.proofs_page import write_page

        write_page(markdown, proofs)
    raise Exit(0 if all(proof.held or not proof.ran for proof in proofs) else 1)


def _chosen(names: list[str], everything: bool) -> list[Scenario]:
    from rankandfile.lab import prove as proving

    known = {scenario.name: scenario for scenario in proving.scenarios()}
    if everything:
        return [scenario for scenario in known.values() if proving.of_paths(scenario)]
    if not names:
        raise UserError("name a scenario, or say --all")
    for name in names:
        if kind_of(name) != "real" or name not in known:
            raise UserError(f"{name} cannot be proved here: it must be a real scenario that hangs")
    return [known[name] for name in names]


def _prove_all(
    chosen: list[Scenario], what: tuple[What, ...], plain: bool, origin: Origin, jobs: int
) -> list[Proof]:
    from rankandfile.lab.prove import Proof, prove
    from rankandfile.lab.run import ScenarioError

    def proofs_of(scenario: Scenario) -> list[Proof]:
        return prove(scenario, what, plain=plain, origin=origin)

    found: dict[str, list[Proof]] = {}
    for scenario, done in as_they_end(proofs_of, chosen, jobs):
        name = scenario.name
        try:
            found[name] = done.result()
        except ScenarioError as error:
            words = str(error).splitlines()[0]
            found[name] = [
                Proof(scenario=name, what=one, origin=origin, plain=plain, held=False, words=words)
                for one in what
            ]
        for proof in found[name]:
            say(f"{name}: {proof.what} {'holds' if proof.held else 'does not hold'}  {proof.seconds:.1f} s")
    return [proof for scenario in chosen for proof in found[scenario.name]]


def _prove_sets(folders: list[Path], jobs: int) -> list[Proof]:
    from rankandfile.lab.blind import proofs

    chosen = [case for folder in folders for case in proofs.opened(folder)]
    found: dict[Path, list[Proof]] = {}
    for case, done in as_they_end(proofs.prove, chosen, jobs):
        found[case.folder] = done.result()
        for proof in found[case.folder]:
            how = "holds" if proof.held else "does not hold" if proof.ran else "is not run"
            say(f"{proof.scenario}: " + (f"{proof.title} {how}" if proof.title else "no patch"))
    return [proof for case in chosen for proof in found[case.folder]]


def _table(proofs: list[Proof]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("scenario", "what", "holds", "by", "run"):
        table.add_column(heading, overflow="fold", no_wrap=heading != "run")
    for proof in proofs:
        table.add_row(
            proof.scenario,
            proof.what,
            "yes" if proof.held else "NO" if proof.ran else "not run",
            proof.pattern,
            Text(proof.words),
            style=None if proof.held or not proof.ran else "red",
        )
    return table
