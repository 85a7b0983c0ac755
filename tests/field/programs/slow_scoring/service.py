import multiprocessing
import time


def serve(end, seconds):
    while True:
        question = end.recv()
        if question == 3:
            continue
        time.sleep(seconds)
        end.send(question * 2)


class Service:
    def __init__(self, seconds=1.5):
        self.end, theirs = multiprocessing.Pipe()
        multiprocessing.Process(target=serve, args=(theirs, seconds), daemon=True).start()

    def ask(self, question):
        self.end.send(question)
        return self.end.recv()
