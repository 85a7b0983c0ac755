"""The interactive look at a case. Needs Textual: the extra `explore`."""
