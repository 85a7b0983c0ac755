"""The causes: one file each, and nothing else but the file makes a cause.

A file is named after its cause, and defines `CAUSE`: the word, what it means, what to do, and its page in the
documentation. Below stand the ways in which it is found, as `rankandfile.reason.finder` tells:

    CAUSE = Cause(word="early_exit", family="paths", meaning="Some ranks left the loop or the program ...", ...)

    @finder(precedence=130)
    def left_the_loop(facts: Facts, wait_end: WaitEnd) -> Finding | None:
        p = find_divergence(facts, wait_end)
        if p is None or p.how != "left":
            return None
        return Finding(cause=CAUSE.word, confidence="supported", sentence="Rank 3 left the loop early.", ...)

Its tools come from `rankandfile.reason.toolbox`. Ways that lead to one of several causes, or to none that has a name,
are in `rankandfile.reason.finders`.
"""

from rankandfile.reason.finder import finders, tellers

__all__ = ["finders", "tellers"]
