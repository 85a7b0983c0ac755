"""Names taken out of a case: hosts, users, paths, addresses and secrets become pseudonyms, the same everywhere in it.

What reasoning needs stays: ranks, groups, operations, times, function names, the file names of sources, and the
paths of public libraries. `tables.redact` does a whole case.
"""
