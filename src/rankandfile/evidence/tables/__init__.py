"""From what was decoded to the tables of a case."""
