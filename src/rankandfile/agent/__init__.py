"""The investigation: tools over a case, the playbook that uses them in order, and the check of what is claimed."""
