"""Evidence in object stores, through fsspec: listed, copied within the limits, and read from there as files."""
