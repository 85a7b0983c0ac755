"""A node's evidence made small without changing the answer, so that only little need travel.

What `raf condense` writes is an archive of ordinary files, in which a dump stands in a form of its own: what repeats
once, numbers as what they differ by, and of the times what reasoning reads. It is one more kind of file
(`files/kinds/condensed_dump.py`), and goes through the same checks as a dump in torch's own form.
"""
