"""Broken files, and what must hold for them."""
