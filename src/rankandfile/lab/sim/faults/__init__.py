"""Faults: each bends the programs of some ranks, or the fabric, and says what the truth then is."""
