"""Waits: who cannot go on before whom, and what the chains of waits end in."""
