"""The linter: rules over what a program's functions do to the other ranks, before it runs."""
