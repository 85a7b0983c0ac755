"""What `--help` shows, and the reference page of the docs: a command, its arguments and options, its examples."""
