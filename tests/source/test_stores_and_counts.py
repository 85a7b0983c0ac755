"""Between a store that one rank fills for itself and a count of rounds, the store is what ranks differ by."""

from __future__ import annotations

from support.source.toy_runs import located, place, play

TRAIN = """
    import torch.distributed as dist

    class Answers:
        def __init__(self):
            self.kept = {}

        def get(self, key, make):
            if key not in self.kept:  # <-
                self.kept[key] = make()
            return self.kept[key]

    class Runner:
        def __init__(self, settings):
            self.answers, self.every = Answers(), settings.every

        def scale(self, key):
            return self.answers.get(key, lambda: self.measure(key))

        def measure(self, key):
            dist.all_gather(key)

        def run(self, keys):
            for n, key in enumerate(keys):
                self.scale(key)
                if n % self.every == 0:
                    dist.all_reduce(n)

    def main():
        Runner(Settings()).run(["a", "a", "c" if dist.get_rank() == 1 else "a", "a"])

    class Settings:
        every = 1
"""


def test_a_store_that_lacks_a_key_on_one_rank_comes_before_a_count_that_is_the_same_for_all() -> None:
    run = play(train=TRAIN)
    assert place(located(run, 1).location) == run.marked
