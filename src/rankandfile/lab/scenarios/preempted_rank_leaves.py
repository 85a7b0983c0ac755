"""A termination signal reaches one rank, which leaves the loop politely and alone."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, Strike, above, below, diverge

SCENARIO = Scenario(
    title="Rank 3 gets SIGTERM, leaves the loop, and waits at the shutdown barrier",
    program="classifier",
    world_size=4,
    args=("--epochs", "40", "--patience", "1000"),
    cause="rank_conditional",
    accepted_causes=("early_exit", "skipped_collective"),
    culprits=(3,),
    culprits_from_dumps=(3,),
    location=At("trainer.py", "if self.preempted:"),
    divergence=diverge(
        "skipped",
        Cohort((3,), "barrier", At("parallel.py", "dist.barrier()")),
        Cohort((0, 1, 2), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        below("trainer.py", "import logging\n", "import signal\n"),
        below(
            "trainer.py",
            "        self.started = time.monotonic()\n",
            """        self.preempted = False
        signal.signal(signal.SIGTERM, self.on_preemption)
""",
        ),
        above(
            "trainer.py",
            "    def fit(self):\n",
            """    def on_preemption(self, number, frame):
        self.preempted = True

""",
        ),
        above(
            "trainer.py",
            "            if self.out_of_patience():\n",
            """            if self.preempted:
                log.warning("preempted, leaving at step %d", self.step)
                break
""",
        ),
    ),
    fix=(Edit("trainer.py", "if self.preempted:", "if parallel.any_rank(self.preempted):"),),
    strikes=(Strike(3, "SIGTERM", 60),),
    hold_sockets=False,
    fix_summary="All ranks leave together once any of them has been told to.",
    seen_in="https://github.com/NVIDIA-NeMo/Automodel/pull/3007",
)
