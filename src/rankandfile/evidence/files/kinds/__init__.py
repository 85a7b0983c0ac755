"""Kinds of file: one module each, asked by the place of its signs. See `rankandfile.evidence.files.kind`."""
