"""The skill that teaches a coding agent the workflow: a folder of Markdown, and its installation."""
