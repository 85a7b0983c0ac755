"""``raf collect``: the evidence of all nodes in one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from rankandfile.cli.collecting.asked import Asked, targets
from rankandfile.cli.collecting.place import may_be_place, place_of
from rankandfile.cli.collecting.told import gather
from rankandfile.cli.errors import NO_HANG, UNDETERMINED, UserError
from rankandfile.cli.panels import DIAGNOSE
from rankandfile.cli.settings import settings
from rankandfile.pipeline import Options

PANEL = DIAGNOSE
ORDER = 25
EXAMPLES = (
    "raf collect --slurm 812345 -o job.case",
    "raf collect --slurm 812345 --stacks -o job.case '/scratch/dumps/*' --diagnose",
    "raf collect --kubernetes training/job-name=train -o job.case",
    "raf collect --ssh node-1,node-2 -o job/ '/tmp/nccl_trace_rank_*' '/var/log/train/*.log'",
    "raf collect --ssh 'node[01-64]' --through 'ssh -F site.cfg' -o job.case",
    "raf collect --hosts hostfile -o job.case",
    "raf collect --shared /mnt/dumps -o job.case '812345/*'",
)


def collect(
    patterns: Annotated[
        list[str] | None,
        Argument(
            help="Files and folders on each node, in quotes: the node's shell is to expand them. Default: where torch "
            "writes its dumps.",
            metavar="[PATTERN...]",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            metavar="DIR|FILE",
            callback=may_be_place,
            help="Where to: one archive (.case, .zip), or a folder. The same again takes up where the last time ended.",
        ),
    ] = None,
    slurm: Annotated[
        str | None, Option("--slurm", metavar="JOB", help="The nodes of a running job, by srun.")
    ] = None,
    kubernetes: Annotated[
        str | None,
        Option(
            "--kubernetes",
            metavar="NAMESPACE/SELECTOR",
            help="Pods by their labels, with their logs, those before a restart, and how they ended.",
        ),
    ] = None,
    ssh: Annotated[
        list[str] | None,
        Option("--ssh", metavar="HOST,...", help="Hosts, also as node[01-64]; may be given several times."),
    ] = None,
    hosts: Annotated[
        str | None,
        Option("--hosts", metavar="FILE", help="Hosts for ssh, one in each line; - is standard input."),
    ] = None,
    shared: Annotated[
        list[Path] | None,
        Option(
            "--shared", metavar="DIR", help="A folder that this machine sees; patterns are of files below it."
        ),
    ] = None,
    stacks: Annotated[
        bool, Option("--stacks", help="Take each rank's stack there now, where py-spy is on the node.")
    ] = False,
    full: Annotated[
        bool, Option("--full", help="The files as they are, also where raf on the node could condense them.")
    ] = False,
    through: Annotated[
        str | None,
        Option(
            "--through",
            metavar="COMMAND",
            help="What to call in place of ssh, srun or kubectl, with options: 'ssh -F site.cfg', 'kubectl --context "
            "prod', oc.",
        ),
    ] = None,
    container: Annotated[
        str | None, Option("--container", help="Of several in a pod, the one that has the files.")
    ] = None,
    at_once: Annotated[int, Option("--at-once", min=1, metavar="N", help="Nodes asked at a time.")] = 32,
    timeout: Annotated[
        float, Option("--timeout", min=1, metavar="SECONDS", help="Longest that one node may take.")
    ] = 300,
    deadline: Annotated[
        float, Option("--deadline", min=1, metavar="SECONDS", help="Longest that all of it may take.")
    ] = 3600,
    diagnose: Annotated[bool, Option("--diagnose", help="Go on with raf diagnose.")] = False,
) -> None:
    """Gather dumps, logs and stacks of all nodes into one case that raf diagnose reads.

    Goes through the site's own ssh, srun or kubectl, many nodes at a time. A node that fails or is slow is one line,
    and the rest goes on. The same command again fetches what is lacking or has changed. Where raf is on a node too, it
    makes the node's evidence small before it is sent.

    Exit status: 0 all nodes gathered, 3 some are lacking, 2 nothing gathered, or usage. With --diagnose, that of the
    diagnosis.
    """
    if output is None:
        raise UserError("where to? -o job.case for one file, or -o DIR for a folder")
    place = place_of(output)
    asked = Asked(
        slurm=slurm,
        kubernetes=kubernetes,
        hosts=tuple(ssh or ()),
        host_file=hosts,
        shared=tuple(shared or ()),
        through=through,
        container=container,
        patterns=tuple(patterns or ()),
        stacks=stacks,
    )
    found = targets(asked, place)
    from rankandfile.capture.collect.collect import Wishes

    wishes = Wishes(at_once=at_once, timeout=timeout, deadline=deadline, full=full)
    whole = gather(found, place, wishes, last=diagnose)
    if diagnose:
        from .diagnose import answer

        own = settings()
        answer([output], Options(sources=tuple(own.src), collectives=own.collectives))
    raise Exit(NO_HANG if whole else UNDETERMINED)
