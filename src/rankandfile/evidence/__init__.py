"""Bytes in, model out. One module per kind of source; bad data is reported, never raised."""
