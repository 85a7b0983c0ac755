"""A data loader worker opens a named pipe that nobody writes to."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 2's data loader worker waits for a feed that never comes",
    program="classifier",
    world_size=3,
    args=("--num-workers", "1"),
    cause="host_blocked",
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("data.py", "with open(feed) as file:"),
    divergence=diverge(
        "absent",
        Cohort((2,)),
        Cohort((0, 1), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit("shards.json", '"part-2", "samples": 128', '"part-2", "feed": "live-2", "samples": 128'),
        Edit(
            "data.py",
            "    def __getitem__(self, index):\n",
            '''    def wait_for_feed(self):
        """Live shards get their tokens through a named pipe; the first line says that data is there."""
        feed = os.path.join("output", self.feed)
        os.makedirs("output", exist_ok=True)
        if not os.path.exists(feed):
            os.mkfifo(feed)
        with open(feed) as file:
            return file.readline()

    def __getitem__(self, index):
        if self.feed and index == 64:
            self.wait_for_feed()
''',
        ),
        above("data.py", "        for first, last in unlabelled:\n", "        self.feed = None\n"),
        above(
            "data.py",
            "    return DataLoader(shard, batch_size=config.batch_size, num_workers=config.num_workers)\n",
            '    shard.feed = entry.get("feed")\n',
        ),
    ),
    fix=(
        Edit(
            "data.py",
            """        with open(feed) as file:
            return file.readline()
""",
            """        descriptor = os.open(feed, os.O_RDONLY | os.O_NONBLOCK)
        os.close(descriptor)
""",
        ),
    ),
    fix_summary="Never wait for a feed without a limit: open it without blocking and go on with what is there.",
)
