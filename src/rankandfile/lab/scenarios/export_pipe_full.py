"""Rank 0 writes the exported model into a pipe that nobody reads."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 0 blocks on writing the export to a full pipe; rank 1 waits at the barrier",
    program="fsdp_vlm",
    world_size=2,
    cause="host_blocked",
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("export.py", "sink.write(buffer.getvalue())"),
    divergence=diverge(
        "absent",
        Cohort((0,)),
        Cohort((1,), "barrier", At("export.py", "dist.barrier()")),
    ),
    fault=(
        Edit(
            "export.py",
            """        os.makedirs(directory, exist_ok=True)
        torch.save(state, os.path.join(directory, f"model_{step}.pt"))
""",
            """        buffer = io.BytesIO()
        torch.save(state, buffer)
        with packer() as sink:
            sink.write(buffer.getvalue())
""",
        ),
        above(
            "export.py",
            "def export(",
            '''def packer():
    """The far end compresses and uploads; it is started by the first export."""
    reader, writer = os.pipe()
    STARTED.append(reader)
    return os.fdopen(writer, "wb")


STARTED = []


''',
        ),
        above("export.py", "import os\n", "import io\n"),
        Edit("export.py", ', directory="export")', ")"),
    ),
    fix=(
        Edit(
            "export.py",
            "        with packer() as sink:\n",
            '        with open(f"model_{step}.pt", "wb") as sink:\n',
        ),
    ),
    fix_summary="Write to a file, or make sure that somebody reads the pipe.",
)
