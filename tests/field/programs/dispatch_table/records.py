import random


def stream(rank, count):
    drawn = random.Random(40 + rank)
    for step in range(count):
        yield {"step": step, "weight": drawn.random(), "value": drawn.uniform(-1, 1)}
