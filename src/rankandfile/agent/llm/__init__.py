"""A model investigates after the playbook: the same tools, the same check of what it claims, within a budget.

Only `providers` and `session` load the library that speaks to models, and nothing imports them before a model is asked.
"""
