import collections
import os
import random
import tempfile
import time

FOLDER = os.path.join(tempfile.gettempdir(), f"words-{os.getppid()}")


class Lock:
    def __init__(self, path):
        self.path = path + ".lock"

    def __enter__(self):
        while os.path.exists(self.path):
            time.sleep(0.25)
        open(self.path, "w").close()

    def __exit__(self, *_):
        os.unlink(self.path)


def merges(text, seconds=20):
    """Byte pairs, in plain Python."""
    end, words = time.time() + seconds, list(text)
    while time.time() < end:
        pairs = collections.Counter(zip(words, words[1:]))
        (left, right), count = pairs.most_common(1)[0]
        if count < 2:
            words = list(text)
            continue
        merged, at = [], 0
        while at < len(words):
            if words[at : at + 2] == [left, right]:
                merged.append(left + right)
                at += 2
            else:
                merged.append(words[at])
                at += 1
        words = merged
    return len(set(words))


def prepared(rank):
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, "corpus")
    if rank == 0:
        open(path + ".lock", "w").close()  # what an earlier job has left
        with Lock(path):
            letters = random.Random(0)
            return merges("".join(letters.choices("abcdef ", k=20000)))
    return 0
