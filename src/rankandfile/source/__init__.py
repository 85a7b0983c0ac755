"""Python source: the file that ran, its control flow, why a decision can differ between ranks, patches.

Nothing of it is executed: it is read with `ast`, and a file that cannot be read is one file less.
"""
