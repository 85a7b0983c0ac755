"""The rules of `raf lint`: one file each, whose docstring is its page, and nothing else but the file makes a rule.

A file defines `RULE`. What divergences are, and what a rule may find by itself, tells `rankandfile.source.lint.rule`.
"""
