"""`--help`, and what it has in common with the pages of the documentation."""
