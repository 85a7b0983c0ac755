"""Rings of the recorder: what a process wrote into shared memory before it ended, or while it hangs."""
