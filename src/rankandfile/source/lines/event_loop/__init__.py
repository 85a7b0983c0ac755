"""Of a rank that stands in its event loop, which await of the program it waits in: no stack of a thread shows that."""
