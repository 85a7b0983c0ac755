"""``raf investigate``: the workflow of a good engineer, step by step, with everything it says cited."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from rankandfile.cli.asking import asked, choice_of, previewed
from rankandfile.cli.commands.diagnose import print_card, status
from rankandfile.cli.console import Unicode, err, out, write_utf8
from rankandfile.cli.errors import INTERRUPTED, UserError, told_as
from rankandfile.cli.loading import Paths, as_typed, diagnosing
from rankandfile.cli.model_options import (
    DryRun,
    Limits,
    MaxCost,
    MaxSeconds,
    MaxSteps,
    MaxTokens,
    Model,
    PriceOption,
    Redact,
    Resume,
)
from rankandfile.cli.output import TextOrJson, folder_output
from rankandfile.cli.panels import DIAGNOSE
from rankandfile.cli.progress import watching, working
from rankandfile.cli.proving import Prove, ProveTimeout, ProveWhat, What, proved
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.agent.llm.account import Account
    from rankandfile.agent.playbook import Investigation

PANEL = DIAGNOSE
ORDER = 30
EXAMPLES = (
    "raf investigate incident/ --src train/",
    "raf investigate ticket.zip --src . --git v1.4 -o post-mortem/",
    "raf investigate incident/ --src train/ --model anthropic:claude-sonnet-4-5 --redact --dry-run",
    "raf investigate incident/ --src train/ --model http://localhost:8000/v1#my-model --max-steps 20",
    "raf investigate incident/ --src train/ --prove 'torchrun --nproc-per-node 4 main.py'",
)


@diagnosing
def investigate(
    options: Options,
    paths: Paths,
    output: Annotated[
        Path,
        folder_output("Where to write the files."),
    ] = Path(),
    format: Annotated[
        TextOrJson, Option("--format", "-f", help="How to print the answer.")
    ] = TextOrJson.text,
    model: Model = None,
    max_steps: MaxSteps = 30,
    max_tokens: MaxTokens = 400_000,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = 900.0,
    price: PriceOption = None,
    redact: Redact = False,
    dry_run: DryRun = False,
    resume: Resume = False,
    prove: Prove = None,
    prove_what: ProveWhat = What.fix,
    prove_timeout: ProveTimeout = 300.0,
    unicode: Unicode = True,
) -> None:
    """Investigate a hang step by step, and write it down as a post-mortem in which every sentence cites its evidence.

    Writes investigation.md, to be read, and investigation.jsonl, one line per step: tool, arguments, digest of the
    answer. Needs no network and no account. With --model, a model goes on from there with the same tools; what it
    claims is held against the case, and the verdict of the rules is delivered whatever it does. With --prove, a
    command of yours is run in a copy of the source, with the fix and without it.
    Exit status: 0 no hang found, 1 a verdict, 2 usage or unreadable input, 3 undetermined, 130 interrupted.
    """
    if model is None and (dry_run or resume or redact):
        raise UserError(
            "--dry-run, --resume and --redact are about what a model is sent: name one with --model"
        )
    choice = None if model is None else choice_of(model, need_key=not dry_run)
    from rankandfile.agent.bench import bench_of

    with watching() as on_progress:
        bench = bench_of(paths, options, on_progress=on_progress)
    from rankandfile.agent.playbook import draft

    with working("investigating"):
        found = draft(bench)
    limits = Limits(max_steps, max_tokens, max_cost, max_seconds, price)
    if choice is not None and dry_run:
        write_utf8(previewed(choice, limits, found, output if resume else None, redact))
        return
    with told_as(f"cannot write to {output}"):
        output.mkdir(parents=True, exist_ok=True)
    account = None if choice is None else asked(choice, limits, found, output, redact, resume)
    closed = found.close()
    _write(output, closed, account)
    proof = None
    if prove is not None:
        proof = proved(
            bench, prove_what, None if account is None else account.fix, prove, output, prove_timeout
        )
    from rankandfile.cli.investigation_words import document, model_lines, proof_lines

    if format is TextOrJson.json:
        write_utf8(document(bench.diagnosis, account, proof))
    else:
        print_card(bench.diagnosis, unicode, asked=as_typed(paths, options))
        for line in (*model_lines(account), *proof_lines(proof)):
            out.print(line, soft_wrap=True)
    for what, path in (("investigation", "investigation.md"), ("steps", "investigation.jsonl")):
        err.print(f"{what:<14} {output / path}", soft_wrap=True)
    interrupted = account is not None and account.interrupted
    raise Exit(INTERRUPTED if interrupted else status(bench.diagnosis))


def _write(folder: Path, found: Investigation, account: Account | None) -> None:
    document, steps = found.document, found.journal.to_jsonl()
    if account is not None:
        import msgspec

        from rankandfile.agent.llm.report import about

        document += f"\n{about(account)}"
        steps += msgspec.json.encode({"model": account}) + b"\n"
    with told_as(f"cannot write to {folder}"):
        # Names from evidence may hold halves of characters, which UTF-8 has no bytes for.
        (folder / "investigation.md").write_bytes(document.encode("utf-8", "replace"))
        (folder / "investigation.jsonl").write_bytes(steps)
