"""One real hang per file. Adding a scenario is adding a file here."""
