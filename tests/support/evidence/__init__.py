"""Files that jobs leave behind: dumps, logs and stacks."""
