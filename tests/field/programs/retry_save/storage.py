import random
import time


class Full(Exception):
    pass


class Store:
    def __init__(self, rank):
        self.rank, self.drawn, self.kept = rank, random.Random(rank), {}

    def put(self, key, value):
        if self.rank == 2 and key == "step-24":
            self.rank = -1
            raise Full(f"no room for {key}")
        self.kept[key] = value


def with_retries(action, times=3, pause=0.05):
    for attempt in range(times):
        try:
            return action()
        except Full:
            time.sleep(pause * attempt)
    raise Full("gave up")
