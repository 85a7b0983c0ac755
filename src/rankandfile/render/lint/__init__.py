"""The outputs of `raf lint --format`: one module each, its name is the word and `write` its function."""
