"""Calls: who asked for what, in which order, and which calls of different ranks belong together."""
