"""Calls that were left out, or ask for less, as what answers goes by what it was asked or given before."""
