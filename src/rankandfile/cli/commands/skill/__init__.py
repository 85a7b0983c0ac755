"""The skill that teaches a coding agent the workflow: install it, or read it."""

ORDER = 100
